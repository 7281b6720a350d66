# Completion of pushjuju for fish: `pushjuju completion fish | source`.
# The program itself answers; nothing here knows a command.
function __pushjuju_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l answer ($before[1] __complete fish $before[2..-1] "$current" 2>/dev/null)
    switch "$answer[1]"
        case files
            __fish_complete_path "$current"
        case '*'
            printf '%s\n' $answer[2..-1]
    end
end
complete -c pushjuju -f -a '(__pushjuju_complete)'
