/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of Parca's GPU support, as parca-agent and its users' bpftrace scripts expect them. */
provider parcagpu {
	probe cuda_correlation(unsigned int correlation, int cbid, const char *name);
	probe kernel_executed(unsigned long start, unsigned long end, unsigned int correlation,
			      unsigned int device, unsigned int stream, unsigned int graph,
			      unsigned long graph_node, const char *name);
	probe activity_batch(const void **records, unsigned int count);
};
