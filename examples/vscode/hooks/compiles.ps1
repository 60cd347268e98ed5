# Tells the model when an edited file does not compile; the result stays.
if ([Console]::In.ReadToEnd() -match '"tool_response":"[^"]*error') {
@'
{
  "decision": "block",
  "reason": "The edited file does not compile",
  "hookSpecificOutput": {
    "hookEventName": "PostToolUse",
    "additionalContext": "Run the build before you go on"
  }
}
'@
}
