#!/bin/sh
# Runs a command whose temporary files are in memory: on a disk, tests that write many files take half
# as long again. That needs a folder with enough room in which programs may run; else, or where TMPDIR is
# set, the command runs as it is. What a failing command leaves behind stays, to be looked at.
folder=
if test -z "$TMPDIR" && folder=$(mktemp -d /dev/shm/equipage.XXXXXX 2>/dev/null); then
    printf '#!/bin/sh\n' > "$folder/program" && chmod +x "$folder/program"
    room=$(df -Pk "$folder" | awk 'END { print $4 }')
    if "$folder/program" 2>/dev/null && test "$room" -gt 2000000; then
        export TMPDIR="$folder"
    fi
fi
"$@"
code=$?
if test -n "$folder"; then
    if test $code = 0 || test "$TMPDIR" != "$folder"; then
        chmod -R u+rwx "$folder"  # tests leave folders that their owner may not write to
        rm -rf "$folder"
    else
        echo "see $folder"
    fi
fi
exit $code
