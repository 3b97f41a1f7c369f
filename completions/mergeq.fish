# fish completion for mergeq: asks mergeq what can be typed. `mergeq completion fish` prints this script.

function __mergeq_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    command -q -- "$program"; or set program mergeq
    command -q -- "$program"; or return
    set -l lines (command $program __complete -- $words[2..] (string unescape -- "$current"; or echo "$current") 2>/dev/null)
    test (count $lines) -gt 0; or return
    test (count $lines) -gt 1; and printf '%s\n' $lines[1..-2]
    # fish matches the whole word, so the names of files after --option= get the part before them again.
    set -l prefix (string match -r -- '^--[^=]*=' "$current")
    switch $lines[-1]
        case :files
            set -l files (complete -C "'' "(string replace -- "$prefix" '' "$current"))
            test (count $files) -gt 0; and printf '%s\n' "$prefix"$files
        case :commands
            __fish_complete_command
    end
end

complete -c mergeq -e
complete -c mergeq -f -a '(__mergeq_complete)'
