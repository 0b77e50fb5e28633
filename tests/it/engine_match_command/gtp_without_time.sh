#!/bin/sh
# A Go program that speaks the commands GTP 2 requires, and none about time. It never plays where a stone
# has been, so no position comes again, and only next to such a point, so no stone lacks a liberty.
used=
answer() { printf '%s\n\n' "$1"; }
is_free() { case " $used " in *" $1 "*) return 1 ;; esac; }
choose() {
    for row in 5 4 6 3 7 2 8 1 9; do
        for column in E D F C G B H A J; do
            is_free "$column$row" || continue
            for next in $((row - 1)) $((row + 1)); do
                if [ "$next" -ge 1 ] && [ "$next" -le 9 ] && is_free "$column$next"; then
                    used="$used $column$row"
                    answer "= $column$row"
                    return
                fi
            done
        done
    done
    answer "= pass"
}
while read -r command first second _; do
    case $command in
    protocol_version) answer "= 2" ;;
    name) answer "= Without time" ;;
    version) answer "= 1" ;;
    boardsize) [ "$first" = 9 ] && answer "=" || answer "? unacceptable size" ;;
    clear_board) used= && answer "=" ;;
    komi) answer "=" ;;
    play) used="$used $second" && answer "=" ;;
    genmove) choose ;;
    quit) answer "=" && exit ;;
    *) answer "? unknown command" ;;
    esac
done
