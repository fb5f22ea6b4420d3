# Completion of photofinish for bash: source it.

@ENGINE@

_photofinish_laboratory() {
    local IFS=$'\n'
    COMPREPLY=( $( env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" \
                   _PHOTOFINISH_COMPLETE=complete_bash "$1" 2>/dev/null ) )
}

_photofinish() {
    COMPREPLY=()
    if (( COMP_CWORD > 1 )); then
        case "${COMP_WORDS[1]}" in
            @COMMANDS@) _photofinish_engine "$@"; return ;;
        esac
    fi
    _photofinish_laboratory "$@"
}

complete -o bashdefault -o default -F _photofinish photofinish
