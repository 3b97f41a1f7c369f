# PowerShell completion for mergeq: asks mergeq what can be typed. `mergeq completion powershell` prints this script.

Register-ArgumentCompleter -Native -CommandName mergeq -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $typed = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object {
        if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
    })
    $program = if (Get-Command $typed[0] -CommandType @('Application', 'ExternalScript') -ErrorAction Ignore) { $typed[0] } else { 'mergeq' }
    $words = @($typed | Select-Object -Skip 1)
    # Not every version of PowerShell passes on an empty word: mergeq reads two quotes as an empty word.
    $current = if ($wordToComplete) { $wordToComplete } else { '""' }
    $lines = @(try { & $program __complete '--' @words $current 2>$null } catch { })

    # Where nothing is returned, PowerShell completes files.
    if ($lines.Count -lt 2 -and $lines[-1] -notin ':files', ':commands') { return '' }
    foreach ($line in $lines | Select-Object -SkipLast 1) {
        $value, $description = $line.Split("`t", 2)
        if (-not $description) { $description = $value }
        $text = if ($value -match '[^\w./:=+-]') { '''' + $value.Replace('''', '''''') + '''' } else { $value }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $description)
    }
}
