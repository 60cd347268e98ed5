# Stores a file in a new folder, and keeps it only when told so: the end of the
# connection looks like the end of a file.
folder=$1 temp=${2:-${TMPDIR:-/tmp}} name=$3 size=$4
umask 077
[[ $temp == /* && $temp != *$'\n'* ]] || refuse "the folder for files has no absolute path"
folder=$temp/$folder
why=$(mkdir -- "$folder" 2>&1) || refuse "$why"
trap 'rm -rf -- "$folder"' EXIT
trap 'exit 1' HUP INT TERM
trap '' PIPE
set -o noclobber
# Reads no byte more than that: nothing more is sent before it has ended.
head -c "$size" >"$folder/$name"
[[ $(wc -c <"$folder/$name") -eq $size ]] || refuse "not all of it was stored"
say "$folder"
read -r word && [[ $word == keep ]] || exit 1
trap - EXIT
say kept
exit 0
