import type { Environment } from '../host/host.ts'

/** The address of a remote without its credential, and the environment that passes the credential to git. */
export interface SplitAddress {
  /** The address without a credential, safe to show and to pass as an argument. */
  readonly address: string
  /** The given environment; with a credential, also `GIT_CONFIG_COUNT` and its keys and values. */
  readonly env: Environment
}

const userInfoPattern = /^((https?|ssh):\/\/)([^/?#]*)@(.*)$/i

const decodePercent = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Separates the user name and password from the address of a remote. Every process of the machine can see
 * arguments, and git passes an address on to another program; only this user can see the environment. An
 * ssh address keeps the user name, which is part of the address, and loses the password, which ssh never
 * accepts. An address without a credential and an address in the scp form are returned unchanged.
 */
export function splitCredential(address: string, env: Environment): SplitAddress {
  const [, prefix = '', protocol = '', userInfo = '', rest = ''] = userInfoPattern.exec(address) ?? []
  if (prefix === '') return { address, env }
  const colon = userInfo.indexOf(':')
  const user = colon < 0 ? userInfo : userInfo.slice(0, colon)
  if (protocol.toLowerCase() === 'ssh') return { address: `${prefix}${user}@${rest}`, env }
  const plainAddress = `${prefix}${rest}`
  // An insteadOf rule of the user that adds a credential would put it into the address again; the longest
  // rule wins.
  const settings: (readonly [key: string, value: string])[] = [
    [`url.${plainAddress}.insteadOf`, plainAddress],
  ]
  if (colon < 0) settings.push([`credential.${plainAddress}.username`, decodePercent(user)])
  else {
    const pair = `${decodePercent(user)}:${decodePercent(userInfo.slice(colon + 1))}`
    settings.push([
      `http.${plainAddress}.extraHeader`,
      `Authorization: Basic ${Buffer.from(pair).toString('base64')}`,
    ])
  }
  return { address: plainAddress, env: { ...env, ...configVariables(settings, env.GIT_CONFIG_COUNT) } }
}

/** Returns git settings as environment variables, numbered after the existing ones. */
function configVariables(
  settings: readonly (readonly [key: string, value: string])[],
  count: string | undefined,
): Environment {
  const firstIndex = Number(count ?? 0)
  if (!Number.isSafeInteger(firstIndex) || firstIndex < 0) return {}
  const variables = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${firstIndex + index}`, key],
    [`GIT_CONFIG_VALUE_${firstIndex + index}`, value],
  ])
  return { ...Object.fromEntries(variables), GIT_CONFIG_COUNT: String(firstIndex + settings.length) }
}
