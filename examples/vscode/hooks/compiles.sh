# Tells the model when an edited file does not compile; the result stays.
if grep -q '"tool_response":"[^"]*error'; then
  cat <<'END'
{
  "decision": "block",
  "reason": "The edited file does not compile",
  "hookSpecificOutput": {
    "hookEventName": "PostToolUse",
    "additionalContext": "Run the build before you go on"
  }
}
END
fi
