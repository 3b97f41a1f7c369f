import { describe, expect, test } from 'vitest'
import { parseRepository, readRepositoryAddress, repositoryName } from '../../src/values/repository.ts'

const web = 'github.com/acme/web'

/** Addresses as they stand in `git remote -v`, and the repository that each names; undefined for none. */
const spellings: readonly (readonly [address: string, repo: string | undefined])[] = [
  // https
  ['https://github.com/acme/web', web],
  ['https://github.com/acme/web.git/', web],
  ['https://github.com//acme//web.git', web],
  ['https://www.github.com/acme/web', web],
  ['https://github.com:443/acme/web.git', web],
  ['https://octocat:secret@github.com/acme/web.git', web],
  ['https://octocat:p@ss@github.com/acme/web', web],
  ['https://github.com/Acme/Web.git', 'github.com/Acme/Web'],
  ['https://github.com/acme/web.git.git', web],
  ['HTTPS://WWW.GitHub.com./acme/web', web],
  ['https://www.git.example.com/acme/web', 'www.git.example.com/acme/web'],
  ['https://www.example/acme/web', 'www.example/acme/web'],
  ['https://ghe.example.com./acme/web', 'ghe.example.com/acme/web'],
  ['https://github.com/acme/my_web-2.0~x', 'github.com/acme/my_web-2.0~x'],
  ['https://github.com/acme/w%65b', web],
  ['http://git.example.com:8080/acme/web.git', 'git.example.com:8080/acme/web'],
  ['https://git.example.com:8443/acme/web.git', 'git.example.com:8443/acme/web'],
  ['https://localhost:3000/acme/web.git', 'localhost:3000/acme/web'],
  ['https://münchen.example/acme/web', 'xn--mnchen-3ya.example/acme/web'],
  // ssh addresses: the port is that of another server of the same repository
  ['ssh://git@github.com/acme/web.git', web],
  ['ssh://git@ssh.github.com:443/acme/web.git', web],
  ['ssh://git@git.example.com:2222/acme/web.git', 'git.example.com/acme/web'],
  ['ssh://git@git.example.com/~ada/web.git', 'git.example.com/~ada/web'],
  ['git+ssh://git@github.com/acme/web.git', web],
  ['git://github.com/acme/web.git', web],
  // the scp form
  ['git@github.com:acme/web.git', web],
  ['git@github.com:/acme/web.git', web],
  ['github.com:acme/web.git', web],
  ['git@git.example.com:2222/web.git', 'git.example.com/2222/web'],
  ['git@git.example.com:äcme/wéb.git', 'git.example.com/äcme/wéb'],
  // groups below groups, also such as look like the path of a page
  ['git@gitlab.com:acme/platform/team/web.git', 'gitlab.com/acme/platform/team/web'],
  ['https://gitlab.com/acme/platform/src/web.git', 'gitlab.com/acme/platform/src/web'],
  ['git@altssh.gitlab.com:acme/web.git', 'gitlab.com/acme/web'],
  // other forges
  ['ssh://git@altssh.bitbucket.org:443/acme/web.git', 'bitbucket.org/acme/web'],
  ['https://git.example.com/scm/acme/web.git', 'git.example.com/acme/web'],
  ['https://acme@dev.azure.com/acme/platform/_git/web', 'dev.azure.com/acme/platform/web'],
  ['git@ssh.dev.azure.com:v3/acme/platform/web', 'dev.azure.com/acme/platform/web'],
  ['acme@vs-ssh.visualstudio.com:v3/acme/platform/web', 'dev.azure.com/acme/platform/web'],
  ['https://acme.visualstudio.com/platform/_git/web', 'acme.visualstudio.com/platform/web'],
  ['https://gitea.example.com/v3/web.git', 'gitea.example.com/v3/web'],
  // local paths and files
  ['../acme/web.git', undefined],
  ['acme/web', undefined],
  ['file:///srv/git/acme/web.git', undefined],
  ['C:\\git\\acme\\web', undefined],
  ['\\\\server\\share\\acme\\web', undefined],
  // what git would hand to another program
  ['ext::sh -c id', undefined],
  ['https::https://github.com/acme/web', undefined],
  ['rsync://git.example.com/acme/web', undefined],
  ['-oProxyCommand=id:acme/web', undefined],
  ['ssh://-oProxyCommand=id/acme/web', undefined],
  // what names no repository, or none that --repo could be given
  ['https://github.com/acme', undefined],
  ['https://github.com/../acme', undefined],
  ['https://github.com/acme/web?x=1', undefined],
  ['https://github.com/acme/web#readme', undefined],
  ['https://github.com/acme/we b', undefined],
  ['https://github.com/acme%2Fweb', undefined],
  ['https://github.com/acme/w%E0b', undefined],
  ['https://github.com/acme/web\nhttps://evil.example/a/b', undefined],
  ['https://github.com\\@evil.example/acme/web', undefined],
  ['git@github-work:acme/web.git', undefined],
  ['https://gitlab/acme/web.git', undefined],
  ['https://[::1]:8443/acme/web', undefined],
  ['ssh:///acme/web', undefined],
  ['', undefined],
  [`https://github.com/acme/${'w'.repeat(5_000)}`, undefined],
]

describe('the repository in the address of a remote', () => {
  test.each(spellings)('%j', (address, repo) => {
    const remote = readRepositoryAddress(address)?.repo
    expect(remote && repositoryName(remote)).toBe(repo)
  })

  test('the address and the result are valid for --repo, and name the same repository', () => {
    for (const [address, repo] of spellings) {
      if (repo === undefined) continue
      expect(repositoryName(parseRepository(address)), address).toBe(repo)
      expect(repositoryName(parseRepository(repo))).toBe(repo)
    }
  })

  test('the password in the URL of a remote is not in the result', () => {
    for (const [address] of spellings)
      expect(JSON.stringify(readRepositoryAddress(address) ?? '')).not.toMatch(/secret|p@ss/)
  })
})
