#!/bin/sh
# Runs every test/*.sh beside this file, and reports in the Test Anything Protocol.
cd "$(dirname "$0")/.." || exit 1
number=0
failed=0

# check NAME EXPECTED ACTUAL
check() {
  number=$((number + 1))
  if [ "$2" = "$3" ]; then
    echo "ok $number - $1"
  else
    failed=$((failed + 1))
    echo "not ok $number - $1"
    echo "# expected: $2"
    echo "# actual:   $3"
  fi
}

for file in test/*.sh; do
  if [ "$file" != test/run.sh ]; then . "./$file"; fi
done
echo "1..$number"
[ "$failed" -eq 0 ]
