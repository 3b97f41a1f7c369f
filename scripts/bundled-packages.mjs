// What the bundle contains from other packages: their licenses, and a software bill of materials (SBOM).
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FromNodePackageJson, License } from '@cyclonedx/cyclonedx-library/Contrib'
import { ComponentType } from '@cyclonedx/cyclonedx-library/Enums'
import { Bom } from '@cyclonedx/cyclonedx-library/Models'
import { JSON as Json, JsonSerializer } from '@cyclonedx/cyclonedx-library/Serialize'
import { Spec1dot6 } from '@cyclonedx/cyclonedx-library/Spec'
import { root } from './bundle.mjs'

/** Returns the folder of the package that a module belongs to; undefined for a module of src/. */
export const packageFolderOf = id =>
  /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+(?=[\\/])/.exec(id)?.[0]

const readManifest = folder => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

const packageUrl = ({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`

/** Returns the packages that bundled modules belong to, with manifest and folder, in the order of their names. */
export function findPackages(moduleIds) {
  const packages = new Map()
  for (const id of moduleIds) {
    // The ids of modules that rolldown itself adds begin with a zero byte.
    const folder = id.startsWith('\0') ? undefined : packageFolderOf(id)
    if (folder === undefined) continue
    const manifest = readManifest(folder)
    packages.set(packageUrl(manifest), { folder, manifest })
  }
  return [...packages].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, found]) => found)
}

/** Returns the license texts of packages. */
export const renderLicenses = packages =>
  packages
    .map(({ folder, manifest: { name, version, license } }) => {
      const file = readdirSync(folder).find(name => /^licen[cs]e(?:-mit)?(?:\.(?:md|txt))?$/i.test(name))
      const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim()
      return `${name} ${version} (${license})\n\n${text}\n`
    })
    .join('\n----\n\n')

/** Returns the license text of the running Node, which also has the texts of what Node contains. */
export function readNodeLicense() {
  const folder = dirname(realpathSync(process.execPath))
  const { platform, arch } = process
  const places = [
    // On Windows, and in the distributions of nodejs.org.
    ...['.', '..'],
    // In the packages of Debian, and in the package `node` of npm.
    ...['../share/doc/nodejs', `../node_modules/node-${platform}-${arch}`],
  ].map(place => join(folder, place, 'LICENSE'))
  const file = places.find(place => existsSync(place))
  if (file === undefined) throw new Error(`The license of Node is not in ${places.join(', ')}.`)
  return readFileSync(file, 'utf8')
}

const componentBuilder = new FromNodePackageJson.Builders.ComponentBuilder(
  new FromNodePackageJson.Factories.ExternalReferenceFactory(),
  // The function parses expressions of several licenses, which no bundled package has.
  new License.Factories.LicenseFactory(license => {
    throw new Error(`${license} is not one license`)
  }),
)

function describePackage(manifest, type) {
  const component = componentBuilder.makeComponent(manifest, type)
  component.purl = packageUrl(manifest)
  component.bomRef.value = component.purl
  return component
}

/** Returns the SBOM of the bundle in CycloneDX. It has no time and no serial number: a build can be repeated. */
export function renderBom(packages) {
  const bom = new Bom()
  bom.metadata.component = describePackage(readManifest(root), ComponentType.Application)
  for (const { manifest } of packages) {
    const component = describePackage(manifest, ComponentType.Library)
    bom.components.add(component)
    bom.metadata.component.dependencies.add(component.bomRef)
  }
  const serializer = new JsonSerializer(new Json.Normalize.Factory(Spec1dot6))
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`
}
