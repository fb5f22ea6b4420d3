#compdef photofinish
# Completion of photofinish for zsh: source it after compinit, or store it as _photofinish in a folder of $fpath.

@ENGINE@

_photofinish_laboratory() {
    eval "$(env _TYPER_COMPLETE_ARGS="${words[1,$CURRENT]}" _PHOTOFINISH_COMPLETE=complete_zsh "${words[1]}" 2>/dev/null)"
}

_photofinish() {
    if (( CURRENT > 2 )); then
        case "${words[2]}" in
            @COMMANDS@) _photofinish_engine "$@"; return ;;
        esac
    fi
    _photofinish_laboratory "$@"
}

if [ "$funcstack[1]" = "_photofinish" ]; then
    _photofinish "$@"
else
    compdef _photofinish photofinish
fi
