# Publishes the report; run by the agent.
cp REPORT.md published.md
echo "published REPORT.md"
