/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cuprobe/abi.h"
#include "src/inject/env.h"

static char complaints[1024];
static int complaint_count;

static void complain(const char *name, const char *value, const char *allowed)
{
	size_t used = strlen(complaints);

	snprintf(complaints + used, sizeof(complaints) - used, "%s|%s|%s;", name,
		 value ? value : "-", allowed ? allowed : "-");
	complaint_count++;
}

#define READ(...)                                                                                  \
	do {                                                                                       \
		static const char *const environment[] = {__VA_ARGS__};                            \
                                                                                                   \
		complaints[0] = 0;                                                                 \
		complaint_count = 0;                                                               \
		cuprobe_env_read((char *const *)environment, complain);                            \
	} while (0)

static void has_defaults(void **state)
{
	(void)state;
	READ("PATH=/bin", NULL);
	assert_int_equal(complaint_count, 0);
	assert_null(cuprobe_env.log);
	assert_null(cuprobe_env.cupti_path);
	assert_int_equal(cuprobe_env.pool_mb, 64);
	assert_int_equal(cuprobe_env.flush_ms, 100);
	assert_int_equal(cuprobe_env.release, CUPROBE_RELEASE_AUTO);
	assert_int_equal(cuprobe_env.rank, CUPROBE_NO_ID);
}

static void takes_good_values(void **state)
{
	(void)state;
	READ("CUPROBE_LOG=stderr", "CUPROBE_BUFFER_KB=128", "CUPROBE_RELEASE=unsubscribe",
	     "CUPROBE_CUPTI_PATH=/a=b", NULL);
	assert_int_equal(complaint_count, 0);
	assert_string_equal(cuprobe_env.log, "stderr");
	assert_int_equal(cuprobe_env.buffer_kb, 128);
	assert_int_equal(cuprobe_env.release, CUPROBE_RELEASE_UNSUBSCRIBE);
	assert_string_equal(cuprobe_env.cupti_path, "/a=b");
}

static void reports_bad_values_and_keeps_the_default(void **state)
{
	(void)state;
	READ("CUPROBE_POOL_MB=0", "CUPROBE_FLUSH_MS=ten", "CUPROBE_BUFFER_KB=512x",
	     "CUPROBE_LOG_LEVEL=-1", "CUPROBE_RELEASE=maybe", "CUPROBE_DISABLE=", NULL);
	assert_int_equal(complaint_count, 6);
	assert_non_null(strstr(complaints, "CUPROBE_POOL_MB|0|1 to 4096;"));
	assert_non_null(strstr(complaints, "CUPROBE_RELEASE|maybe|auto, finalize or unsubscribe;"));
	assert_int_equal(cuprobe_env.pool_mb, 64);
	assert_int_equal(cuprobe_env.flush_ms, 100);
	assert_int_equal(cuprobe_env.release, CUPROBE_RELEASE_AUTO);
	assert_int_equal(cuprobe_env.disable, 0);
}

static void reports_unknown_names_of_ours_only(void **state)
{
	(void)state;
	READ("CUPROBE_POOLMB=3", "CUDA_HOME=/x", "CUPROBE_DIRECT=/s", "CUPROBES=1", NULL);
	assert_int_equal(complaint_count, 1);
	assert_non_null(strstr(complaints, "CUPROBE_POOLMB=3|-|-;"));
}

static void takes_rates_in_thousandths(void **state)
{
	(void)state;
	READ("PATH=/bin", NULL);
	assert_int_equal(cuprobe_env.parca_rate, 100000);
	assert_int_equal(cuprobe_env.parca_graph_rate, 20000);
	READ("PARCAGPU_RATE_LIMIT=0.12345", "PARCAGPU_GRAPH_RATE_LIMIT=5", NULL);
	assert_int_equal(cuprobe_env.parca_rate, 123);
	assert_int_equal(cuprobe_env.parca_graph_rate, 5000);
	READ("PARCAGPU_RATE_LIMIT=12.5", "PARCAGPU_GRAPH_RATE_LIMIT=99999999999999999999", NULL);
	assert_int_equal(complaint_count, 0);
	assert_int_equal(cuprobe_env.parca_rate, 12500);
	assert_int_equal(cuprobe_env.parca_graph_rate, CUPROBE_RATE_UNLIMITED);
	READ("PARCAGPU_RATE_LIMIT=0", "PARCAGPU_GRAPH_RATE_LIMIT=1e3", "PARCAGPU_RATE_LIMITS=1",
	     NULL);
	assert_int_equal(complaint_count, 3);
	assert_int_equal(cuprobe_env.parca_rate, 100000);
	assert_int_equal(cuprobe_env.parca_graph_rate, 20000);
}

static void samples_for_parca_as_it_needs(void **state)
{
	(void)state;
	READ("PARCAGPU_SAMPLING_FACTOR=12", NULL);
	assert_int_equal(cuprobe_env.parca_pc_rate, CUPROBE_RATE_UNSET);
	assert_int_equal(cuprobe_env.pc_mode, CUPROBE_PC_SETTING_CONTINUOUS);
	assert_int_equal(cuprobe_env.pc_period, 0);
	READ("PARCAGPU_PC_SAMPLING_RATE=0", "PARCAGPU_PC_HW_BUFFER_MB=7", NULL);
	assert_int_equal(complaint_count, 0);
	assert_int_equal(cuprobe_env.parca_pc_rate, 0);
	assert_int_equal(cuprobe_env.pc_mode, CUPROBE_PC_SETTING_SERIALIZED);
	assert_int_equal(cuprobe_env.pc_period, 20);
	assert_int_equal(cuprobe_env.pc_buffer_mb, 7);
	READ("PARCAGPU_PC_SAMPLING_RATE=-1", "PARCAGPU_SAMPLING_FACTOR=40", NULL);
	assert_int_equal(complaint_count, 2);
	assert_int_equal(cuprobe_env.parca_pc_rate, CUPROBE_RATE_UNSET);
}

static void debugs_to_stderr_or_where_the_log_goes(void **state)
{
	(void)state;
	READ("PARCAGPU_DEBUG=0", NULL);
	assert_null(cuprobe_env.log);
	READ("PARCAGPU_DEBUG=1", NULL);
	assert_string_equal(cuprobe_env.log, "stderr");
	assert_int_equal(cuprobe_env.log_level, 4);
	READ("PARCAGPU_DEBUG=1", "CUPROBE_LOG=/log", NULL);
	assert_string_equal(cuprobe_env.log, "/log");
}

static void knows_the_launchers(void **state)
{
	(void)state;
	READ("SLURM_PROCID=9", "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=8", NULL);
	assert_int_equal(cuprobe_env.rank, 3);
	assert_int_equal(cuprobe_env.world_size, 8);
	READ("RANK=x", "PMI_RANK=2", NULL);
	assert_int_equal(cuprobe_env.rank, 2);
	assert_int_equal(cuprobe_env.world_size, CUPROBE_NO_ID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_defaults),
		cmocka_unit_test(takes_good_values),
		cmocka_unit_test(reports_bad_values_and_keeps_the_default),
		cmocka_unit_test(reports_unknown_names_of_ours_only),
		cmocka_unit_test(takes_rates_in_thousandths),
		cmocka_unit_test(samples_for_parca_as_it_needs),
		cmocka_unit_test(debugs_to_stderr_or_where_the_log_goes),
		cmocka_unit_test(knows_the_launchers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
