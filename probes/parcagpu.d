/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of Parca's GPU support, as parca-agent and its users' bpftrace scripts expect them. */
provider parcagpu {
	probe cuda_correlation(unsigned int correlation, int cbid, const char *name);
	probe kernel_executed(unsigned long start, unsigned long end, unsigned int correlation,
			      unsigned int device, unsigned int stream, unsigned int graph,
			      unsigned long graph_node, const char *name);
	probe activity_batch(const void **records, unsigned int count);
	probe cubin_loaded(unsigned long crc, const char *cubin, unsigned long bytes);
	probe cubin_unloaded(unsigned long crc);
	probe error(int code, const char *message, const char *component);
	probe gpu_config(unsigned int device, unsigned int factor, unsigned int clock_khz,
			 unsigned int multiprocessors);
	probe nvtx_event_batch(const void **events, unsigned int count);
	probe nvtx_resource_name(unsigned int kind, unsigned long id, const char *name);
	probe pc_sample_batch(const void **records, unsigned int count);
	probe stall_reason_map(const char *names, unsigned int count);
};
