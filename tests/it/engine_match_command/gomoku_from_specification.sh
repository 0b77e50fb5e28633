#!/bin/sh
# A Gomoku program written from the specification of the Piskvork protocol. Its lines end with CR alone, it
# answers START with a text of its own, and it complains of each INFO. It plays on the first empty point.
size=0
used=
say() { printf '%s\r' "$1"; }
choose() {
    y=0
    while [ $y -lt "$size" ]; do
        x=0
        while [ $x -lt "$size" ]; do
            case " $used " in
            *" $x,$y "*) ;;
            *)
                used="$used $x,$y"
                say "$x,$y"
                return
                ;;
            esac
            x=$((x + 1))
        done
        y=$((y + 1))
    done
}
while read -r command value; do
    case $command in
    START) size=$value && used= && say "OK - everything is good, board of $value" ;;
    BEGIN) say "message I begin" && choose ;;
    TURN) used="$used $value" && say "DEBUG $value" && choose ;;
    BOARD) used= ;;
    *,*,*) used="$used ${command%,*}" ;;
    DONE) choose ;;
    ABOUT) say 'name="First point", version="1"' ;;
    END) exit ;;
    *) say "UNKNOWN $command" ;;
    esac
done
