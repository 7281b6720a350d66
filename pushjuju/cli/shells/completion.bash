# Completion of pushjuju for bash: `source <(pushjuju completion bash)`.
# For another name of it: `complete -F _pushjuju_complete juju`.
# The program itself answers; nothing here knows a command.
_pushjuju_complete() {
    local -a answer
    mapfile -t answer < <("$1" __complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
    COMPREPLY=("${answer[@]:1}")
    case "${answer[0]-}" in
        files) compopt -o default -o filenames ;;
        nospace) compopt -o nospace ;;
    esac
}
complete -F _pushjuju_complete pushjuju
