# Denies edits outside of src/safe.ts, and offers that file instead.
if ([Console]::In.ReadToEnd().Contains('"src/safe.ts"')) { exit 0 }
@'
{
  "hookSpecificOutput": {
    "hookEventName": "PreToolUse",
    "permissionDecision": "deny",
    "permissionDecisionReason": "Destructive command blocked by policy",
    "updatedInput": { "files": ["src/safe.ts"] },
    "additionalContext": "User has read-only access to production files"
  }
}
'@
