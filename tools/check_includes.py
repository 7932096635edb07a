#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does each file include the standard headers of the names that it uses, itself or by a header of ours?

Standard libraries include each other's headers in other ways with each version, so that a file may compile with one compiler and
not with the next. Names that are likely to be missed are looked for, as words, outside comments and strings. Prints what is
missing, a line each, and then ends with exit code 1. Usage: tools/check_includes.py [files]
"""
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# A header: the names that need it.
NAMES = {
    "cstdint": r"std::(u?int(_fast|_least)?(8|16|32|64)_t|u?intptr_t|u?intmax_t)\b",
    "cstddef": r"std::(size_t|ptrdiff_t|byte|nullptr_t|max_align_t)\b|offsetof\b",
    "algorithm": r"std::(sort|stable_sort|min_element|max_element|minmax_element|find|find_if|find_if_not|any_of|all_of|none_of|"
                 r"count|count_if|copy|copy_n|copy_if|fill|fill_n|transform|remove_if|unique|reverse|rotate|lower_bound|"
                 r"upper_bound|equal_range|binary_search|nth_element|partition|stable_partition|clamp|generate|shuffle|merge|"
                 r"is_sorted|for_each|adjacent_find|equal|mismatch|search|replace|set_difference|ranges::\w+)\(",
    "array": r"std::array\b",
    "atomic": r"std::(atomic|atomic_ref|memory_order\w*|atomic_thread_fence)\b",
    "bit": r"std::(bit_cast|popcount|countr_zero|countl_zero|bit_width|bit_ceil|has_single_bit|endian)\b",
    "chrono": r"std::chrono\b",
    "cmath": r"std::(sqrt|exp|log|pow|sin|cos|tan|acos|asin|atan2?|fabs|floor|ceil|round|lround|llround|rint|lrint|llrint|erfc?|"
             r"isnan|isfinite|isinf|fma|hypot|cbrt|ldexp|frexp|fmod|nextafter|copysign|signbit|trunc|remainder)\(",
    "condition_variable": r"std::condition_variable\b",
    "cstdio": r"std::(FILE|printf|fprintf|snprintf|fopen|fclose|fflush|fwrite|fread|fputs|puts|rename|remove|perror)\b",
    "cstdlib": r"std::(getenv|exit|abort|malloc|free|strtol|strtoull?|strtod|system|_Exit|atoi|atof|aligned_alloc)\(",
    "cstring": r"std::(memcpy|memmove|memset|memcmp|strlen|strcmp|strncmp|strerror|strchr|strstr|memchr)\(",
    "exception": r"std::(exception_ptr|current_exception|rethrow_exception|make_exception_ptr|terminate|uncaught_exceptions)\b",
    "filesystem": r"std::filesystem\b",
    "fstream": r"std::(i|o)?fstream\b",
    "functional": r"std::(function|hash|greater|less|plus|ref|cref|reference_wrapper)\b",
    "iterator": r"std::(istreambuf_iterator|back_inserter|ostream_iterator|make_move_iterator)\b",
    "limits": r"std::numeric_limits\b",
    "map": r"std::(multi)?map\b",
    "memory": r"std::(unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared|enable_shared_from_this|addressof|construct_at)\b",
    "mutex": r"std::(mutex|scoped_lock|unique_lock|lock_guard|call_once|once_flag|recursive_mutex)\b",
    "numeric": r"std::(accumulate|iota|inner_product|partial_sum|exclusive_scan|inclusive_scan|reduce|gcd|lcm|transform_reduce)\(",
    "optional": r"std::(optional|nullopt|make_optional)\b",
    "random": r"std::(mt19937(_64)?|\w+_distribution|random_device|minstd_rand)\b",
    "set": r"std::(multi)?set\b",
    "span": r"std::(span|as_bytes|as_writable_bytes)\b",
    "sstream": r"std::(i|o)?stringstream\b",
    "stdexcept": r"std::(runtime_error|logic_error|invalid_argument|out_of_range|domain_error|length_error|overflow_error|range_error)\b",
    "string": r"std::(string|to_string|getline|stoi|stol|stoull?|stod|stof)\b",
    "string_view": r"std::string_view\b",
    "system_error": r"std::(error_code|system_error|errc|make_error_code|generic_category)\b",
    "thread": r"std::(jthread|thread|this_thread)\b",
    "tuple": r"std::(tuple|make_tuple|tie|apply|forward_as_tuple)\b",
    "type_traits": r"std::(is_same_v|is_same|decay_t|conditional_t|enable_if_t|remove_cvref_t|is_\w+_v|underlying_type_t|invoke_result_t)\b",
    "unordered_map": r"std::unordered_(multi)?map\b",
    "unordered_set": r"std::unordered_(multi)?set\b",
    "utility": r"std::(move|pair|exchange|swap|forward|index_sequence|make_index_sequence|as_const|unreachable)\b",
    "variant": r"std::(variant|visit|holds_alternative|monostate|get_if)\b",
    "vector": r"std::vector\b",
}
PATTERNS = {header: re.compile(r"(?<![\w:])(?:" + names + ")") for header, names in NAMES.items()}
# Headers that are promised to bring others: by the standard, or as what they are made of.
BRINGS = {"string": {"string_view"}, "fstream": {"string"}, "sstream": {"string"}, "filesystem": {"string", "system_error"}, "map": {"utility"},
          "unordered_map": {"utility"}, "tuple": {"utility"}, "gtest/gtest.h": {"string", "vector", "memory"},
          "gmock/gmock.h": {"string", "vector", "memory", "functional"}, "fmt/format.h": {"string"},
          "nlohmann/json.hpp": {"string", "vector", "map"}, "CLI/CLI.hpp": {"string", "vector", "functional", "memory"},
          "cstdlib": {"cstddef"}, "cstring": {"cstddef"}, "cstdio": {"cstddef"}}
# The ones that every other brings: what a container counts by.
BROUGHT_BY_ALL = {"cstddef"}


def code_of(path):
    """Without comments and strings, but for the names of included files."""
    text = path.read_text()
    text = re.sub(r'(?m)^\s*#\s*include.*$', "", text)
    return re.sub(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(\\.|[^"\\\n])*"', " ", text, flags=re.S)


@cache
def includes_of(path):
    found = re.findall(r'(?m)^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")', path.read_text())
    return {standard for standard, _ in found if standard}, {ours for _, ours in found if ours}


def standard_headers(path, seen):
    """Those that the file and the headers of ours that it includes name."""
    if path in seen:
        return set()
    seen.add(path)
    standard, ours = includes_of(path)
    headers = set(standard)
    for name in ours:
        for folder in (ROOT / "src", ROOT, ROOT / "tests", path.parent):
            if (folder / name).is_file():
                headers |= standard_headers((folder / name).resolve(), seen)
                break
    return headers


def missing(path):
    headers = standard_headers(path, set())
    for header in list(headers):
        headers |= BRINGS.get(header, set())
    if headers:
        headers |= BROUGHT_BY_ALL
    text = code_of(path)
    return [header for header, pattern in PATTERNS.items() if header not in headers and pattern.search(text)]


def main():
    files = [Path(name).resolve() for name in sys.argv[1:]]
    if not files:
        listed = subprocess.run(["git", "ls-files", "-z", "*.cpp", "*.hpp", "*.cu", "*.cuh"], cwd=ROOT, capture_output=True, text=True,
                                check=True)
        files = [ROOT / name for name in listed.stdout.split("\0") if name and not name.endswith("-inl.hpp")]  # texts, for others
    lines = [f"{path.relative_to(ROOT)}: needs <{header}>" for path in files for header in missing(path)]
    print("\n".join(lines) if lines else "includes: every file has the standard headers of what it uses")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
