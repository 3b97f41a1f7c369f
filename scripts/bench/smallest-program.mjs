// What the request of mergeq is compared with: a program of commander and undici alone that sends it and prints the
// response. The benchmark bundles it.
import { Command } from 'commander'
import { request } from 'undici'

const { MERGEQ_BASE_URL, MERGEQ_TOKEN } = process.env
const program = new Command('smallest')
program
  .command('pr')
  .command('get')
  .argument('<number>')
  .requiredOption('-R, --repo <owner/name>')
  .requiredOption('-b, --target-branch <branch>')
  .action(async (number, { repo, targetBranch }) => {
    const [owner, name] = repo.split('/')
    const { statusCode, body } = await request(`${MERGEQ_BASE_URL}/getSubmittedPullRequest`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-token': MERGEQ_TOKEN },
      body: JSON.stringify({
        repo: { host: 'github.com', owner, name },
        targetBranch,
        pr: { number: Number(number) },
      }),
    })
    process.stdout.write(`${JSON.stringify(await body.json(), null, 2)}\n`)
    if (statusCode !== 200) process.exitCode = 1
  })
await program.parseAsync()
process.exit()
