// Finds the service links of Kubernetes: variables that it sets in every container of a namespace for each Service. A
// Service named `ortler` sets ORTLER_SERVICE_HOST, ORTLER_PORT=tcp://10.0.0.1:8000 and others under the prefix of settings.

const HOST_SUFFIX = '_SERVICE_HOST';
/** The other suffixes of a Service's name. Source: Kubernetes, "Service", environment variables. */
const LINK_SUFFIX = /^_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_\w+)$/;
/** Value of `<name>_PORT` as Kubernetes sets it; an operator would set a number. */
const ADDRESS = /^(tcp|udp|sctp):\/\//;

/** Names of the variables that Kubernetes set. */
export function findServiceLinks(
  environment: Readonly<Record<string, string | undefined>>,
): ReadonlySet<string> {
  const names = Object.keys(environment);
  const services = names
    .filter(name => name.endsWith(HOST_SUFFIX))
    .map(name => name.slice(0, -HOST_SUFFIX.length));
  const isLinkOf = (service: string, name: string) =>
    name === `${service}_PORT`
      ? ADDRESS.test(environment[name] ?? '')
      : name.startsWith(service) && LINK_SUFFIX.test(name.slice(service.length));
  return new Set(names.filter(name => services.some(service => isLinkOf(service, name))));
}
