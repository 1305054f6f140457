# SPDX-License-Identifier: Apache-2.0
# The warnings of the house, and the sanitizers asked for, on every target.
add_compile_options(-Wall -Wextra -Wshadow -Wundef -Wstrict-prototypes -Wmissing-prototypes
	-Wold-style-definition -Wwrite-strings -Wformat=2 -Wpointer-arith -Wvla -Wcast-align
	-Wnull-dereference -Wimplicit-fallthrough -fno-common)
if(CMAKE_C_COMPILER_ID MATCHES Clang)
	# gcc excuses functions that hand a va_list on, clang does not.
	add_compile_options(-Wno-format-nonliteral)
endif()
if(CUPROBE_WERROR)
	add_compile_options(-Werror)
endif()
if(CUPROBE_SANITIZE)
	add_compile_options(-fsanitize=${CUPROBE_SANITIZE} -fno-omit-frame-pointer)
	add_link_options(-fsanitize=${CUPROBE_SANITIZE})
endif()
