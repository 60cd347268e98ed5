# Removes a folder that put.sh made.
why=$(rm -rf -- "$1" 2>&1) || refuse "$why"
say removed
exit 0
