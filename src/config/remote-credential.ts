import type { Environment } from '../host/host.ts'

/** The address of a remote without its credential, and the environment that gives the credential to git. */
export interface SplitAddress {
  /** Safe to show and to pass as an argument. */
  readonly address: string
  /** The given environment; with a credential, further settings for git in `GIT_CONFIG_COUNT` and what belongs to it. */
  readonly env: Environment
}

const withUser = /^((https?|ssh):\/\/)([^/?#]*)@(.*)$/i

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Takes the user name and password out of the address of a remote. Arguments are visible to every process of the
 * machine, and git passes an address on to a program of its own; the environment is visible to this user alone. Over ssh
 * the user name stays, which is part of the address, and a password is dropped, which ssh takes from nobody. An address
 * without either, or in the scp form, is returned as it is.
 */
export function splitCredential(address: string, env: Environment): SplitAddress {
  const [, start = '', protocol = '', userInfo = '', rest = ''] = withUser.exec(address) ?? []
  if (start === '') return { address, env }
  const colon = userInfo.indexOf(':')
  const user = colon < 0 ? userInfo : userInfo.slice(0, colon)
  if (protocol.toLowerCase() === 'ssh') return { address: `${start}${user}@${rest}`, env }
  const plain = `${start}${rest}`
  // A rule of the user's own settings that adds a credential would put it into the address again: the longest rule wins.
  const settings: (readonly [key: string, value: string])[] = [[`url.${plain}.insteadOf`, plain]]
  if (colon < 0) settings.push([`credential.${plain}.username`, decoded(user)])
  else {
    const pair = `${decoded(user)}:${decoded(userInfo.slice(colon + 1))}`
    settings.push([
      `http.${plain}.extraHeader`,
      `Authorization: Basic ${Buffer.from(pair).toString('base64')}`,
    ])
  }
  return { address: plain, env: { ...env, ...configVariables(settings, env.GIT_CONFIG_COUNT) } }
}

/** Settings as git reads them from its environment, after those that are there already. */
function configVariables(
  settings: readonly (readonly [key: string, value: string])[],
  count: string | undefined,
): Environment {
  const first = Number(count ?? 0)
  if (!Number.isSafeInteger(first) || first < 0) return {}
  const variables = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, key],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ])
  return { ...Object.fromEntries(variables), GIT_CONFIG_COUNT: String(first + settings.length) }
}
