# PowerShell completion for mergeq
# Made from the command tree of mergeq; `mergeq completion` prints it.

Register-ArgumentCompleter -Native -CommandName mergeq -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $children = @{
        '' = @('pr	Pull requests in a merge queue', 'queue	Merge queues', 'metrics	Print the metrics of merge queues in the Prometheus text format', 'flaky	Failing and flaky tests', 'guard	Keep a push from taking a pull request out of the queue: a git pre-push hook', 'api	Call any operation of the service by its name, and print what comes, untouched', 'auth	The token', 'config	Stored settings', 'doctor	Check token, base address, network, clock, git and CI, and say how to mend what is wrong', 'sandbox	A local service to try things on', 'completion	Print the completion script of a shell', 'help	Print the help of a command, or a topic')
        'pr' = @('submit	Submit pull requests to the queue for testing and merging', 'cancel	Remove pull requests from the queue', 'restart	Run the tests of queued pull requests again', 'get	Show where pull requests stand: state, priority, and whether they are submitted', 'status	Show where pull requests stand: state, priority, and whether they are submitted', 'targets	Set the targets that a pull request impacts', 'testing	Show a test run: its checks, and what is tested in it', 'wait	Wait until pull requests have merged, failed or been cancelled', 'explain	Say why a pull request is not merging, and what to do next')
        'queue' = @('create	Create the merge queue of a branch', 'get	Show a queue: its state, its settings and what is in it', 'update	Change settings of a queue; what is not named stays as it is', 'delete	Delete a queue; it must be empty', 'pause	Stop testing and merging; what is being tested finishes', 'resume	Test and merge again', 'drain	Start no new tests; merge what is being tested', 'watch	Watch a queue: what is in it now, and every change', 'export	Write the settings of a queue as a file for version control', 'diff	Compare queues with their files: 0 if they are the same, 20 if not', 'apply	Make queues as their files say: what differs is sent, what is not named is left alone', 'check	Check how a queue is: 0 if all conditions hold, 21 if one does not')
        'flaky' = @('list	List the tests that failed in a range of time, each once', 'get	Show everything that is known about a test', 'report	Sum up the failing tests for a CI job: Markdown, annotations on files, or JSON', 'match	Tell which failures in JUnit XML files are known, quarantined or new', 'gate	Check how many tests failed in a range of time: 0 if few enough, 21 if more')
        'auth' = @('login	Store a token for the base address, after the service has taken it', 'logout	Remove the stored token of the base address', 'status	Show which token would be sent, where it comes from, and where it would go', 'token	Print the token itself: it will be visible where this is printed')
        'config' = @('list	Show the settings that commands use here and now', 'get	Print one setting as commands use it here and now', 'set	Store a setting, in the profile that --profile names', 'unset	Remove a stored setting', 'path	Print the file that settings are stored in')
        'sandbox' = @('start	Serve a sandbox on loopback until it is stopped', 'exec	Run a command against a sandbox of its own, and pass its exit code on', 'tour	See the main job done: from a new queue to a merge, failing tests and metrics', 'simulate	What if: throughput, time in queue and CI minutes of a queue under several settings')
        'help' = @('pr	Pull requests in a merge queue', 'queue	Merge queues', 'metrics	Print the metrics of merge queues in the Prometheus text format', 'flaky	Failing and flaky tests', 'guard	Keep a push from taking a pull request out of the queue: a git pre-push hook', 'api	Call any operation of the service by its name, and print what comes, untouched', 'auth	The token', 'config	Stored settings', 'doctor	Check token, base address, network, clock, git and CI, and say how to mend what is wrong', 'sandbox	A local service to try things on', 'completion	Print the completion script of a shell', 'help	Print the help of a command, or a topic', 'exit-codes	A topic', 'environment	A topic', 'formatting	A topic')
        'help pr' = @('submit	Submit pull requests to the queue for testing and merging', 'cancel	Remove pull requests from the queue', 'restart	Run the tests of queued pull requests again', 'get	Show where pull requests stand: state, priority, and whether they are submitted', 'status	Show where pull requests stand: state, priority, and whether they are submitted', 'targets	Set the targets that a pull request impacts', 'testing	Show a test run: its checks, and what is tested in it', 'wait	Wait until pull requests have merged, failed or been cancelled', 'explain	Say why a pull request is not merging, and what to do next')
        'help queue' = @('create	Create the merge queue of a branch', 'get	Show a queue: its state, its settings and what is in it', 'update	Change settings of a queue; what is not named stays as it is', 'delete	Delete a queue; it must be empty', 'pause	Stop testing and merging; what is being tested finishes', 'resume	Test and merge again', 'drain	Start no new tests; merge what is being tested', 'watch	Watch a queue: what is in it now, and every change', 'export	Write the settings of a queue as a file for version control', 'diff	Compare queues with their files: 0 if they are the same, 20 if not', 'apply	Make queues as their files say: what differs is sent, what is not named is left alone', 'check	Check how a queue is: 0 if all conditions hold, 21 if one does not')
        'help flaky' = @('list	List the tests that failed in a range of time, each once', 'get	Show everything that is known about a test', 'report	Sum up the failing tests for a CI job: Markdown, annotations on files, or JSON', 'match	Tell which failures in JUnit XML files are known, quarantined or new', 'gate	Check how many tests failed in a range of time: 0 if few enough, 21 if more')
        'help auth' = @('login	Store a token for the base address, after the service has taken it', 'logout	Remove the stored token of the base address', 'status	Show which token would be sent, where it comes from, and where it would go', 'token	Print the token itself: it will be visible where this is printed')
        'help config' = @('list	Show the settings that commands use here and now', 'get	Print one setting as commands use it here and now', 'set	Store a setting, in the profile that --profile names', 'unset	Remove a stored setting', 'path	Print the file that settings are stored in')
        'help sandbox' = @('start	Serve a sandbox on loopback until it is stopped', 'exec	Run a command against a sandbox of its own, and pass its exit code on', 'tour	See the main job done: from a new queue to a merge, failing tests and metrics', 'simulate	What if: throughput, time in queue and CI minutes of a queue under several settings')
    }
    $flags = @{
        '' = @('--version	Print the version')
        'pr submit' = @('--stop-on-error	With several, stop at the first failure', '--priority=	urgent, high, medium, low, or 0 (first) to 255 (last)', '--no-batch	Test it alone, never in a batch', '--wait	Wait until it has merged, failed or been cancelled', '--until=	How far: merged, tests-passed, testing or left (default merged)', '--interval=	Time between polls, at least 1s (default auto)', '--grace=	For so long, not found means not there yet (default 90s)', '--match-head=	End with 14 when the head of the pull request is another commit', '--max-errors=	Give up after so many failed polls in a row (default 10)', '--fail-on-paused	End with 8 when the queue is paused', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'pr cancel' = @('--stop-on-error	With several, stop at the first failure', '-y|--yes	Do it without asking', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'pr restart' = @('--stop-on-error	With several, stop at the first failure', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'pr get' = @('--stop-on-error	With several, stop at the first failure', '--head=	Find it by its head branch instead of its number', '--exit-status	Exit 0 if it was merged, 3 if it failed, 10 if cancelled, 8 if not settled', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'pr targets' = @('--sha=!	Head commit of the pull request that the targets belong to', '--no-sha!	Send no head commit', '--too-large=	What to do with a list over 20 MiB: send "ALL", or fail (all, fail; default all)', '--forked-run=	GitHub run id of a pull request from a fork, sent in place of the token', '--from=	Read them from a file, one a line (- is standard input)', '--from-json=	Read them from a JSON array of strings', '--all	The pull request impacts every target', '--none	The pull request impacts no target', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'pr testing' = @('--pr=	Ask by pull request instead, where the service takes that', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'pr wait' = @('--stop-on-error	With several, stop at the first failure', '--until=	How far: merged, tests-passed, testing or left (default merged)', '--interval=	Time between polls, at least 1s (default auto)', '--grace=	For so long, not found means not there yet (default 90s)', '--match-head=	End with 14 when the head of the pull request is another commit', '--max-errors=	Give up after so many failed polls in a row (default 10)', '--fail-on-paused	End with 8 when the queue is paused', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'pr explain' = @('--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'queue create' = @('--mode=	One line (single), or lanes by impacted targets (parallel)', '--concurrency=	Test runs at a time', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'queue get' = @('--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'queue update' = @('--state=	State of the queue: running, paused, draining', '--mode=	One line (single), or lanes by impacted targets (parallel)', '--concurrency=	Test runs at a time', '--bisection-concurrency=	Test runs at a time while a failed batch is split', '--testing-timeout-minutes=	Limit of a test run, in minutes; 0 is none', '--pending-failure-depth=	Runs behind a failure to wait for before it counts', '--can-optimistically-merge!	A pass counts for all ahead', '--no-can-optimistically-merge!	The opposite of --can-optimistically-merge', '--batch!	Test several pull requests together', '--no-batch!	The opposite of --batch', '--batching-min-size=	Size of a batch', '--batching-max-wait-time-minutes=	Time to fill a batch, in minutes', '--create-prs-for-testing-branches!	Draft pull requests for test branches', '--no-create-prs-for-testing-branches!	The opposite of --create-prs-for-testing-branches', '--comments-enabled!	Comments on pull requests', '--no-comments-enabled!	The opposite of --comments-enabled', '--commands-enabled!	Commands in comments', '--no-commands-enabled!	The opposite of --commands-enabled', '--status-check-enabled!	A status check on pull requests', '--no-status-check-enabled!	The opposite of --status-check-enabled', '--direct-merge-mode=	Merge untested when up to date and the queue is empty: off, always', '--optimization-mode=	Reuse failures in a bisection: off, bisection_skip_redundant_tests', '--merge-method=	How to merge: merge_commit, squash, rebase', '--required-status=+	A status that a test run must pass; overrides branch protection (repeatable)', '--delete-required-statuses	Drop the override of required statuses', '--extension-enabled!	The browser extension', '--no-extension-enabled!	The opposite of --extension-enabled', '--label-commands-enabled!	Commands by label', '--no-label-commands-enabled!	The opposite of --label-commands-enabled', '--state-labels-enabled!	Labels that show the state', '--no-state-labels-enabled!	The opposite of --state-labels-enabled', '--enqueueing-label=	Label that submits a pull request', '--not-ready-timeout-hours=	Cancel what is not ready after so many hours', '--test-branch-construction-mode=	How test branches are made: rename_temp_branch, push_new_branch_from_temp', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'queue delete' = @('-y|--yes	Do it without asking', '--cancel-all	Cancel everything that is in the queue first', '--drain-first	Stop new tests first, and wait until nothing is being tested', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'queue pause' = @('--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'queue resume' = @('--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'queue drain' = @('--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'queue watch' = @('--once	Print the queue as it is now, and end', '--interval=	Time between readings, at least 1s (default 10s)', '--for=	End after so long, with 0', '--max-errors=	End after so many failed readings in a row (default 10)', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'queue export' = @('-f|--file=	Write there (.yaml, .yml or .json) instead of to standard output; comments are kept', '--include-state	Let the queue''s state be part of it; without this it is left alone', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'queue diff' = @('-f|--file=	The file of a queue (- is standard input), or a folder of such files', '--include-state	Let the queue''s state be part of it; without this it is left alone', '--allow-unknown	Allow settings that neither mergeq nor the queue knows', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'queue apply' = @('-f|--file=	The file of a queue (- is standard input), or a folder of such files', '-y|--yes	Do it without asking', '--if-match=	Only if the live settings are those that this digest tells', '--include-state	Let the queue''s state be part of it; without this it is left alone', '--allow-unknown	Allow settings that neither mergeq nor the queue knows', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'queue check' = @('--max-depth=	It lists at most so many pull requests', '--stalled=	Of the pull requests that it lists, one changed its state in that time; or it lists none', '--not-paused	It is not PAUSED', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'metrics' = @('--all-repos	All repositories of the organization (the default without --repo)')
        'metrics check' = @('--all-repos	All repositories of the organization (the default without --repo)')
        'metrics watch' = @('--all-repos	All repositories of the organization (the default without --repo)', '--once	Print the metrics as they are now, and end', '--interval=	Time between readings, at least 1s (default 60s)', '--for=	End after so long, with 0', '--max-errors=	End after so many failed readings in a row (default 10)')
        'flaky list' = @('--since=	From so long ago, or from that instant on (default 24h)', '--until=	Until so long ago, or until that instant (default now)', '--start=	Start of the range, inclusive', '--end=	End of the range, exclusive', '--limit=	At most so many tests', '--page-size=	Tests a page, 1 to 100 (default 100)', '--page-token=	One page, as the service gives it', '--max-pages=	Stop after so many pages (default 10000)', '--owner=	Only tests of this code owner', '--quarantined!	Only quarantined tests', '--no-quarantined!	The opposite of --quarantined', '--min-failure-rate=	Only tests that failed at least so often in the last 7 days', '--name=	Only tests whose name matches', '--path=	Only tests whose file matches', '--sort=	Collect all, then order by impact, rate, recent or name', '--resume-file=	Note in this file how far the list was printed; a second run goes on from there', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'flaky get' = @('--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'flaky report' = @('--since=	From so long ago, or from that instant on (default 24h)', '--until=	Until so long ago, or until that instant (default now)', '--start=	Start of the range, inclusive', '--end=	End of the range, exclusive', '--limit=	At most so many tests', '--page-size=	Tests a page, 1 to 100 (default 100)', '--page-token=	One page, as the service gives it', '--max-pages=	Stop after so many pages (default 10000)', '--owner=	Only tests of this code owner', '--quarantined!	Only quarantined tests', '--no-quarantined!	The opposite of --quarantined', '--min-failure-rate=	Only tests that failed at least so often in the last 7 days', '--name=	Only tests whose name matches', '--path=	Only tests whose file matches', '--sort=	Collect all, then order by impact, rate, recent or name', '--format=	markdown for a summary, github for annotations, or json (default markdown)', '--max-chars=	At most so many characters, at least 400 (default 65536 for markdown)', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'flaky match' = @('--since=	From so long ago, or from that instant on (default 24h)', '--until=	Until so long ago, or until that instant (default now)', '--start=	Start of the range, inclusive', '--end=	End of the range, exclusive', '--page-size=	Tests a page, 1 to 100 (default 100)', '--max-pages=	Stop after so many pages (default 10000)', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'flaky gate' = @('--since=	From so long ago, or from that instant on (default 24h)', '--until=	Until so long ago, or until that instant (default now)', '--start=	Start of the range, inclusive', '--end=	End of the range, exclusive', '--page-size=	Tests a page, 1 to 100 (default 100)', '--max-pages=	Stop after so many pages (default 10000)', '--owner=	Only tests of this code owner', '--quarantined!	Only quarantined tests', '--no-quarantined!	The opposite of --quarantined', '--min-failure-rate=	Only tests that failed at least so often in the last 7 days', '--name=	Only tests whose name matches', '--path=	Only tests whose file matches', '--max=	At most so many failing tests', '--baseline=	Tests that do not count: their ids, one a line, or what `flaky list` printed as JSON or NDJSON', '--on-unavailable=	What to do when the service cannot be reached: pass with 0, or fail with 7 (default fail)', '--set=+	Add a field to the body: JSON or text, dots make nesting (repeatable)')
        'guard' = @('--install	Install it as the pre-push hook of this checkout', '--uninstall	Remove it again', '--fail-closed	Stop the push, too, when the queue cannot be asked')
        'api' = @('-X|--method=	get or post (default the operation''s own)', '-F|--field=+	A field of the body: JSON or text, dots make nesting (repeatable)', '--input=	The body, as a JSON object, from a file (- is standard input)', '--include	Print the status line and the headers first')
        'auth login' = @('--with-token	Read the token from standard input', '--no-verify	Store it without asking the service')
        'config list' = @('--show-origin	Also say where each value comes from')
        'sandbox start' = @('--port=	Port to listen on (default any free port)', '--speed=	How many times faster than usual (at 1 a test run takes about two seconds)', '--seed=	What its data is made from: the same seed gives the same data', '--scenario=	How pull requests fare: happy, flaky, failure, cancelled, batch-failure, paused, outage, slow, or a file (default happy)', '--dialect=	How it answers: as the API document says, or as the hosted service does', '--queue=+	A further queue (repeatable)')
        'sandbox exec' = @('--port=	Port to listen on (default any free port)', '--speed=	How many times faster than usual (at 1 a test run takes about two seconds)', '--seed=	What its data is made from: the same seed gives the same data', '--scenario=	How pull requests fare: happy, flaky, failure, cancelled, batch-failure, paused, outage, slow, or a file (default happy)', '--dialect=	How it answers: as the API document says, or as the hosted service does', '--queue=+	A further queue (repeatable)')
        'sandbox tour' = @('--speed=	How many times faster than usual (at 1 a test run takes about two seconds)', '--seed=	What its data is made from: the same seed gives the same data', '--scenario=	How pull requests fare: happy, flaky, failure, cancelled, batch-failure, paused, outage, slow, or a file (default happy)', '--dialect=	How it answers: as the API document says, or as the hosted service does', '--queue=+	A further queue (repeatable)')
        'sandbox simulate' = @('--prs-per-hour=	How many pull requests are submitted in an hour', '--test-minutes=	How long a test run takes, in minutes', '--failure-rate=	Share of pull requests that fail, 0 to 0.9 (default 0)', '--concurrency=	Test runs at a time; several are compared (default 1)', '--batch=	Size of a batch, where 1 is none; several are compared (default 1)', '--weeks=	How long to simulate (default 4)', '--seed=	The same seed gives the same weeks (default 1)', '--from-metrics	Take what is not given from the metrics of the last hour')
    }
    $globals = @('-R|--repo=	Repository, as [host/]owner/name', '-b|--target-branch=	Branch that the queue merges into', '--org=	Slug of the organization (failing tests)', '--base-url=	Base address of the service (default https://api.trunk.io/v1)', '--profile=	Profile of the stored settings (default default)', '-o|--output=	Format: table, json, ndjson, csv, markdown (default table)', '--json	Short for --output json', '--fields=	Print only these fields', '--dry-run	Print what would be sent or changed, and do nothing', '--timeout=	Limit of an attempt; typed for a wait, of the whole wait (default 30s, 60s for a change)', '--retries=	How often a request may be repeated; 0 is one request (default 3)', '--max-answer=	Largest answer to read, such as 128MiB (default 8MiB; 64MiB for lists of tests, metrics and api)', '--ca-file=	A file of further certificate authorities (PEM)', '-q|--quiet	Say nothing on standard error but warnings and errors', '-v|--verbose	Tell requests, timing, and where each setting came from', '--color=	Colour: auto, always or never (default auto)', '--no-input	Never ask; what would be asked is an error', '-h|--help	Print help')
    $values = @{
        '--repo' = @('stored repo')
        '--target-branch' = @('stored target-branch')
        '--org' = @('stored org')
        '--base-url' = @('stored base-url')
        '--profile' = @('stored profile')
        '--output' = @('word table', 'word json', 'word ndjson', 'word csv', 'word markdown')
        '--ca-file' = @('file')
        '--color' = @('word auto', 'word always', 'word never')
        'pr submit --priority' = @('word urgent', 'word high', 'word medium', 'word low')
        'pr submit --until' = @('word merged', 'word tests-passed', 'word testing', 'word left')
        'pr submit --interval' = @('word auto')
        'pr submit --match-head' = @('word HEAD')
        'pr targets --too-large' = @('word all', 'word fail')
        'pr targets --from' = @('file')
        'pr targets --from-json' = @('file')
        'pr wait --until' = @('word merged', 'word tests-passed', 'word testing', 'word left')
        'pr wait --interval' = @('word auto')
        'pr wait --match-head' = @('word HEAD')
        'queue create --mode' = @('word single', 'word parallel')
        'queue update --state' = @('word running', 'word paused', 'word draining')
        'queue update --mode' = @('word single', 'word parallel')
        'queue update --direct-merge-mode' = @('word off', 'word always')
        'queue update --optimization-mode' = @('word off', 'word bisection_skip_redundant_tests')
        'queue update --merge-method' = @('word merge_commit', 'word squash', 'word rebase')
        'queue update --test-branch-construction-mode' = @('word rename_temp_branch', 'word push_new_branch_from_temp')
        'queue export --file' = @('file')
        'queue diff --file' = @('file')
        'queue apply --file' = @('file')
        'flaky list --sort' = @('word impact', 'word rate', 'word recent', 'word name')
        'flaky list --resume-file' = @('file')
        'flaky report --sort' = @('word impact', 'word rate', 'word recent', 'word name')
        'flaky report --format' = @('word markdown', 'word github', 'word json')
        'flaky match #' = @('file')
        'flaky gate --baseline' = @('file')
        'flaky gate --on-unavailable' = @('word pass', 'word fail')
        'api --method' = @('word get', 'word post')
        'api --input' = @('file')
        'api #1' = @('word submitPullRequest', 'word cancelPullRequest', 'word restartTestsOnPullRequest', 'word getSubmittedPullRequest', 'word setImpactedTargets', 'word getMergeQueueTestingDetails', 'word createQueue', 'word getQueue', 'word updateQueue', 'word deleteQueue', 'word getMergeQueueMetrics', 'word flaky-tests/list-failing-tests', 'word flaky-tests/get-test-details')
        'config get #1' = @('word repo', 'word target-branch', 'word org', 'word base-url', 'word output', 'word timeout', 'word retries', 'word color')
        'config set #1' = @('word repo', 'word target-branch', 'word org', 'word base-url', 'word output', 'word timeout', 'word retries', 'word color')
        'config unset #1' = @('word repo', 'word target-branch', 'word org', 'word base-url', 'word output', 'word timeout', 'word retries', 'word color')
        'sandbox start --scenario' = @('word happy', 'word flaky', 'word failure', 'word cancelled', 'word batch-failure', 'word paused', 'word outage', 'word slow', 'file')
        'sandbox start --dialect' = @('word document', 'word hosted')
        'sandbox exec --scenario' = @('word happy', 'word flaky', 'word failure', 'word cancelled', 'word batch-failure', 'word paused', 'word outage', 'word slow', 'file')
        'sandbox exec --dialect' = @('word document', 'word hosted')
        'sandbox exec #' = @('file')
        'sandbox tour --scenario' = @('word happy', 'word flaky', 'word failure', 'word cancelled', 'word batch-failure', 'word paused', 'word outage', 'word slow', 'file')
        'sandbox tour --dialect' = @('word document', 'word hosted')
        'completion #1' = @('word bash', 'word zsh', 'word fish', 'word powershell')
    }
    $aliases = @{ 'pr status' = 'pr get' }

    # Profiles, or the values of a key in them: names that a shell might read otherwise are left out.
    function Get-Stored([string] $key) {
        $folder = $env:MERGEQ_CONFIG_DIR
        if (-not $folder) {
            if ($env:APPDATA) { $folder = Join-Path $env:APPDATA 'mergeq' }
            elseif ($IsMacOS -and $env:HOME) { $folder = "$env:HOME/Library/Preferences/mergeq" }
            elseif ($env:XDG_CONFIG_HOME) { $folder = "$env:XDG_CONFIG_HOME/mergeq" }
            elseif ($env:HOME) { $folder = "$env:HOME/.config/mergeq" }
            else { return }
        }
        try {
            $file = Get-Item -LiteralPath (Join-Path $folder 'config.json') -ErrorAction Stop
            if ($file.PSIsContainer -or $file.Length -eq 0 -or $file.Length -gt 65536) { return }
            $settings = Get-Content -LiteralPath $file.FullName -Raw -ErrorAction Stop | ConvertFrom-Json -ErrorAction Stop
            foreach ($one in $settings.profiles.PSObject.Properties) {
                if ($key -eq 'profile') { if ($one.Name -cmatch '^[A-Za-z0-9][A-Za-z0-9._@+-]*$') { $one.Name } }
                elseif ([string] $one.Value.$key -cmatch '^[A-Za-z0-9][A-Za-z0-9._@+/:~-]*$') { [string] $one.Value.$key }
            }
        } catch { }
    }

    # The row of a flag among others, by its long or its short name.
    function Get-Row([string] $name, $rows) {
        foreach ($row in $rows) {
            $token = $row.Split("`t")[0]
            if (($token -replace '[=+!].*$', '').Split('|') -ccontains $name) { return $token }
        }
        ''
    }
    function Get-Name([string] $token) { ($token -replace '[=+!].*$', '') -replace '^-\w\|', '' }

    # What was typed before the cursor, as it stands there: nothing of it is evaluated.
    $typed = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
    $place = ''; $given = @(); $wants = ''; $rest = $false; $count = 0; $prefix = ''
    $known = @($flags['']) + $globals
    foreach ($word in ($typed | Select-Object -Skip 1)) {
        if ($wants) { $wants = '' }
        elseif (-not $rest -and $word -eq '--') { $rest = $true }
        elseif (-not $rest -and $word -like '-?*') {
            $token = Get-Row ($word -replace '=.*$', '') $known
            $name = Get-Name $token
            $given += $name
            if ($token.Contains('=') -and -not $word.Contains('=')) { $wants = $name }
        }
        elseif (-not $rest -and $count -eq 0 -and @($children[$place] | ForEach-Object { $_.Split("`t")[0] }) -ccontains $word) {
            $place = "$place $word".Trim()
            if ($aliases.ContainsKey($place)) { $place = $aliases[$place] }
            $known = @($flags[$place] | Where-Object { $_ }) + $globals
        }
        else { $count++ }
    }

    $cur = $wordToComplete
    if (-not $wants -and -not $rest -and $cur -like '--*=*') {
        $token = Get-Row ($cur -replace '=.*$', '') $known
        if (-not $token.Contains('=')) { return }
        $wants = Get-Name $token
        $prefix = "$wants="
        $cur = $cur.Substring($cur.IndexOf('=') + 1)
    }
    $offers = @()
    if ($wants) {
        $offers = $values["$place $wants"]
        if (-not $offers) { $offers = $values[$wants] }
    }
    elseif (-not $rest -and $cur.StartsWith('-')) {
        $offers = foreach ($row in $known) {
            $token, $summary = $row.Split("`t", 2)
            $name = Get-Name $token
            if (-not $token.Contains('+') -and $given -ccontains $name) { continue }
            if ($token.EndsWith('!')) {
                $opposite = if ($name.StartsWith('--no-')) { $name -replace '^--no-', '--' } else { $name -replace '^--', '--no-' }
                if ($given -ccontains $opposite) { continue }
            }
            "word $name`t$summary"
        }
    }
    elseif (-not $rest -and $count -eq 0 -and $children[$place]) { $offers = $children[$place] | ForEach-Object { "word $_" } }
    else {
        $offers = $values[$place + ' #' + ($count + 1)]
        if (-not $offers) { $offers = $values[$place + ' #'] }
    }

    # Where nothing is returned, PowerShell offers files.
    $found = foreach ($offer in $offers) {
        if ($offer.StartsWith('stored ')) { Get-Stored $offer.Substring(7) }
        elseif ($offer.StartsWith('word ')) { $offer.Substring(5) }
    }
    $fitting = @($found | Where-Object { $_ -and $_.StartsWith($cur, [StringComparison]::Ordinal) })
    foreach ($fit in $fitting) {
        $text, $summary = $fit.Split("`t", 2)
        if (-not $summary) { $summary = $text }
        [System.Management.Automation.CompletionResult]::new("$prefix$text", $text, 'ParameterValue', $summary)
    }
    if ($fitting.Count -eq 0 -and -not ($offers -ccontains 'file')) { '' }
}
