#!/bin/sh
# An agent for a rehearsal: it plays what coding agents do on a bad day. The prompt comes on stdin, the
# task's id in RALPH_TASK_ID; what is printed last is the report.
cat >/dev/null

number_test() {
  cat >test/number.sh <<'END'
check 'lines are numbered' '1 a
2 b' "$(printf 'a\nb\n' | bin/number)"
END
}

case "$RALPH_TASK_ID $RALPH_ATTEMPT" in
  'number 1')
    # The lie: a test that asks for nothing, and no program.
    echo "check 'lines are numbered' yes yes" >test/number.sh.draft
    rm test/number.sh.draft
    echo 'bin/number works, I checked it by hand.'
    ;;
  'number '*)
    printf '#!/bin/sh\n# Puts its number before every line.\nawk "{ print NR, \\$0 }"\n' >bin/number
    chmod +x bin/number
    number_test
    echo 'Wrote bin/number and its test.'
    ;;
  'total 1')
    # The error: without any line it prints nothing.
    printf '#!/bin/sh\n# Adds up the first words of all lines.\nawk "{ sum += \\$1; last = sum } END { print last }"\n' >bin/total
    chmod +x bin/total
    cat >test/total.sh <<'END'
check 'lines are added up' 6 "$(printf '1\n2\n3\n' | bin/total)"
check 'nothing adds up to 0' 0 "$(printf '' | bin/total)"
END
    echo 'Wrote bin/total; the tests should pass.'
    ;;
  *)
    printf '#!/bin/sh\n# Adds up the first words of all lines.\nawk "{ sum += \\$1 } END { print sum + 0 }"\n' >bin/total
    echo 'Nothing adds up to 0 now.'
    ;;
esac
printf '\n<promise>COMPLETE</promise>\n'
