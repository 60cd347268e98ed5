# Denies edits outside of src/safe.ts, and offers that file instead.
if grep -q '"src/safe.ts"'; then
  exit 0
fi
cat <<'END'
{
  "hookSpecificOutput": {
    "hookEventName": "PreToolUse",
    "permissionDecision": "deny",
    "permissionDecisionReason": "Destructive command blocked by policy",
    "updatedInput": { "files": ["src/safe.ts"] },
    "additionalContext": "User has read-only access to production files"
  }
}
END
