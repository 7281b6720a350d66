#compdef pushjuju
# Completion of pushjuju for zsh: `source <(pushjuju completion zsh)`, or this text as _pushjuju in $fpath.
# The program itself answers; nothing here knows a command.
_pushjuju() {
    local -a answer values shown
    local line directive
    answer=("${(@f)$("${(Q)words[1]}" __complete zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    directive="${answer[1]}"
    for line in "${(@)answer[2,-1]}"; do
        values+=("${line%%$'\t'*}")
        shown+=("${line/$'\t'/  -- }")
    done
    case "$directive" in
        files) _files ;;
        nospace) compadd -S '' -l -d shown -a values ;;
        *) (( ${#values} )) && compadd -l -d shown -a values ;;
    esac
}
if [[ "${funcstack[1]-}" == _pushjuju ]]; then
    _pushjuju "$@"
else
    compdef _pushjuju pushjuju
fi
