#!/bin/sh
file="@log@/$$"
while [ -e "$file" ]; do file="${file}x"; done
printf '%s\0' "$PWD" cmake "$@" > "$file"
PATH=@path@ CMAKE_EXPORT_COMPILE_COMMANDS=${CMAKE_EXPORT_COMPILE_COMMANDS:-ON} exec @real@ "$@"
