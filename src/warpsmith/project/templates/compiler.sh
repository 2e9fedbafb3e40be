#!/bin/sh
# what is called from inside a compiler is its own business
if [ -z "$WARPSMITH_CAPTURE_INSIDE" ]; then
    file="@log@/$$"
    while [ -e "$file" ]; do file="${file}x"; done
    printf '%s\0' "$PWD" @real@ "$@" > "$file"
fi
# who stands before a compiler, as a link to ccache does, looks for the next of its name in PATH: that is not this one
rest=":$PATH:"
while case "$rest" in *":@folder@:"*) true ;; *) false ;; esac; do
    rest="${rest%%":@folder@:"*}:${rest#*":@folder@:"}"
done
rest="${rest#:}"
PATH="${rest%:}" WARPSMITH_CAPTURE_INSIDE=1 exec @real@ "$@"
