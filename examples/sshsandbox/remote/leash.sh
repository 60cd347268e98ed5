# Holds the process group of a hook, from outside of it, and kills it when it is
# told to, when no sign of life has come for a while, at the end of the input,
# which is the end of the connection, or when its time is over.
group=$1 patience=$2 lifetime=$3
trap '' HUP INT TERM PIPE
kill -0 -- "-$group" 2>/dev/null || refuse "the process does not lead a group"
say held
while left=$((lifetime - SECONDS)) && ((left > 0)); do
	read -r -t "$((left < patience ? left : patience))" word || break
	[[ $word == alive ]] || break
done
kill -KILL -- "-$group" 2>/dev/null
exit 0
