# Makes this shell ready to become a hook, and says its process id: it leads
# the process group that sshd made for it. The hook takes its place by exec, so
# sshd itself reports how it ended.
dir=$1 program=$2 lifetime=$3
env=(PYTHONNOUSERSITE=1)
for key in PATH HOME USER LOGNAME SHELL LANG TZ TMPDIR ${!LC_@}; do
	[[ ${!key+set} ]] && env+=("$key=${!key}")
done
[[ -z $dir ]] || cd -- "$dir" 2>/dev/null || refuse "there is no working folder $(printf %q "$dir")"
[[ -f $program && -x $program ]] || refuse "there is no program $(printf %q "$program")"
# Keeps the id of the group from being given to strangers when the hook has
# ended, until the group is killed. It has another parent, so a hook that waits
# for its children does not wait for it.
keeper=$(sleep "$lifetime" </dev/null >/dev/null 2>&1 & echo "$!")
trap 'kill -KILL "$keeper"' EXIT # which a shell that execs does not reach
printf '\n%s\n' "$mark" >&2
say "$$"
