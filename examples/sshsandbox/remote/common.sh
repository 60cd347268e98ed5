# Begins every script. What a login shell has printed before is told from what
# follows by the mark.
mark=$1
shift
say() { printf '\n%s %s\n' "$mark" "$*"; }
refuse() {
	say "refused: $*"
	exit 1
}
# A relative entry of PATH means the working folder, where an agent writes.
rest=$PATH: PATH=
while [[ $rest ]]; do
	dir=${rest%%:*} rest=${rest#*:}
	[[ $dir == /* ]] && PATH+=${PATH:+:}$dir
done
PATH=${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}
