/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX as C++ programs use it: nvtx3.hpp with domains, registered strings and scopes. */
#include <nvtx3/nvtx3.hpp>

#include <thread>

struct engine {
	static constexpr char const *name{"engine"};
};

struct step_message {
	static constexpr char const *message{"step"};
};

struct loading {
	static constexpr char const *name{"loading"};
	static constexpr uint32_t id{9};
};

static void function_scope()
{
	NVTX3_FUNC_RANGE_IN(engine);
}

int main()
{
	auto &step = nvtx3::registered_string_in<engine>::get<step_message>();
	auto &category = nvtx3::named_category_in<engine>::get<loading>();

	{
		nvtx3::scoped_range outer{"outer"};
		nvtx3::scoped_range_in<engine> inner{
			nvtx3::event_attributes{step, category, nvtx3::rgb{0, 128, 255}, nvtx3::payload{42}}};
		function_scope();
	}
	nvtx3::unique_range_in<engine> across{"across"};
	std::thread([range = std::move(across)]() mutable { auto end = std::move(range); }).join();
	nvtx3::mark_in<engine>(L"wide mark");
	return 0;
}
