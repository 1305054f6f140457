/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the workload program share. */
#ifndef CUPROBE_MOCK_APP_H
#define CUPROBE_MOCK_APP_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum app_api {
	APP_RUNTIME,	  /* cudaLaunchKernel */
	APP_RUNTIME_13,	  /* __cudaLaunchKernel, as <<<>>> from CUDA 13 on */
	APP_RUNTIME_EX,	  /* cudaLaunchKernelExC */
	APP_COOPERATIVE,  /* cudaLaunchCooperativeKernel */
	APP_RUNTIME_PTSZ, /* cudaLaunchKernel_ptsz */
	APP_DRIVER,	  /* cuLaunchKernel */
	APP_DRIVER_EX,	  /* cuLaunchKernelEx */
	APP_DRIVER_PTSZ,  /* cuLaunchKernel_ptsz */
	APP_APIS,	  /* how many there are; as an option: each in turn */
};

struct app_options {
	uint64_t count; /* launches a thread; 0: by time */
	double seconds; /* 0: by count */
	double rate;	/* launches/s of a thread; 0: as fast as it goes */
	unsigned int threads, streams, devices, kernels;
	unsigned int graph_nodes;	     /* > 0: launch graphs of so many kernels */
	unsigned int copy_every, sync_every; /* launches; 0: never */
	size_t copy_bytes;
	enum app_api api;
	const char *cubin; /* file whose kernels are launched, in place of made-up ones */
	const char *name;  /* of the kernels, in place of the built-in ones */
	size_t name_bytes; /* longer names: filled up to so many bytes */
	bool hostile;	   /* names that break careless outputs */
	bool quiet;
};

struct app_mode {
	const char *name, *help;
	const char *const *kernels; /* names, NULL at the end; NULL: the built-in ones */
	int (*run)(const struct app_options *options); /* the exit status */
};

/* Ends the program with a message when a CUDA call failed. */
void app_check(const char *what, int error);
#define CHECK(call) app_check(#call, (int)(call))

/* app_kernels.c */
void kernels_register(const struct app_options *options, const char *const *names);
unsigned int kernels_count(void);
const void *kernel_host(unsigned int number); /* what cudaLaunchKernel takes */
const char *kernel_symbol(unsigned int number);
void kernel_launch(unsigned int number, enum app_api api, cudaStream_t stream);

/* app_loop.c */
int loop_run(const struct app_options *options);
int soak_run(const struct app_options *options);
void loop_report(const struct app_options *options, uint64_t done, uint64_t since_ns);
extern volatile sig_atomic_t app_ending; /* SIGUSR1 came: loops end as if their time was over */
uint64_t app_now(void);
void app_sleep_until(uint64_t time_ns);

/* app_llm.c */
extern const char *const llm_kernels[];
int llm_run(const struct app_options *options);

/* app_all.c */
int all_run(const struct app_options *options);
int modules_run(const struct app_options *options);

/* app_fork.c */
int fork_before_run(const struct app_options *options);
int fork_after_run(const struct app_options *options);
int fork_after_exit_run(const struct app_options *options);
int fork_exec_run(const struct app_options *options);
int fork_workers_run(const struct app_options *options);

/* app_exit.c */
int exit_handler_run(const struct app_options *options);
int exit_static_run(const struct app_options *options);
int exit_quick_run(const struct app_options *options);
int exit_thread_run(const struct app_options *options);
int exit_busy_run(const struct app_options *options);
int exit_main_thread_run(const struct app_options *options);
int exit_signal_run(const struct app_options *options);
int no_cuda_run(const struct app_options *options);

/* app_rival.c */
int rival_run(const struct app_options *options);

/* The simulator's ground truth, now; nothing where the program runs on a real driver. */
void app_write_truth(void);

#endif
