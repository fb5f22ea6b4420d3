# Completion of photofinish for fish: store it as ~/.config/fish/completions/photofinish.fish.

@ENGINE@

function __fish_photofinish_laboratory
    env _PHOTOFINISH_COMPLETE=complete_fish _TYPER_COMPLETE_FISH_ACTION=$argv[1] \
        _TYPER_COMPLETE_ARGS=(commandline -cp) photofinish 2>/dev/null
end

complete --command photofinish --no-files --arguments "(__fish_photofinish_laboratory get-args)" \
    --condition "not __fish_seen_subcommand_from @COMMANDS@; and __fish_photofinish_laboratory is-args"
