# Checks the report; run by the agent.
if grep -q '^## Numbers' REPORT.md; then
  echo "REPORT.md is complete"
else
  echo "REPORT.md has no section '## Numbers'"
  exit 1
fi
