/** Why a request got no answer. */
export interface RequestFailure {
  /** As in `DeliveryOutcome`. */
  errorClass: string
  /** One sentence that a person can act on. It names the host, never the path, which may be a secret. */
  sentence: string
  /** Whether retrying cannot help: the address or the receiver has to be changed. */
  isLasting: boolean
}

interface FailureRule {
  code: RegExp
  /** The phase of a timeout of got. */
  phase?: string
  errorClass: string
  describe: (host: string, error: RequestError) => string
  isLasting?: true
}

type RequestError = Error & { code?: string; event?: string }

/** The first match counts. */
const FAILURE_RULES: readonly FailureRule[] = [
  {
    code: /^ERR_EGRESS_BLOCKED$/,
    errorClass: 'egress_refused',
    describe: (_host, { message }) => message,
    isLasting: true,
  },
  {
    code: /^(ENOTFOUND|ENODATA|ENONAME|EBADNAME)$/,
    errorClass: 'dns',
    describe: host => `There is no host of the name ${host}: check the spelling, and that the name is public`,
  },
  {
    code: /^(EAI_|ESERVFAIL|EREFUSED|ETIMEOUT|EFORMERR|EBADRESP)/,
    errorClass: 'dns',
    describe: host => `The name ${host} could not be looked up just now: check its name servers`,
  },
  {
    code: /^ETIMEDOUT$/,
    phase: 'lookup',
    errorClass: 'timeout',
    describe: host => `The name ${host} was not looked up within 5 seconds: check its name servers`,
  },
  {
    code: /^ETIMEDOUT$/,
    phase: 'connect',
    errorClass: 'timeout',
    describe: host =>
      `${host} did not accept the connection within 5 seconds: check that it runs and that no firewall blocks it`,
  },
  {
    code: /^ETIMEDOUT$/,
    phase: 'secureConnect',
    errorClass: 'timeout',
    describe: host =>
      `${host} did not agree on TLS within 5 seconds: check that it serves HTTPS on this port`,
  },
  {
    code: /^ETIMEDOUT$/,
    phase: 'send',
    errorClass: 'timeout',
    describe: host => `${host} did not read the message within 10 seconds: check that it reads requests`,
  },
  {
    code: /^(ETIMEDOUT|ESOCKETTIMEDOUT)$/,
    errorClass: 'timeout',
    describe: host => `${host} did not answer in time: a receiver should answer first and work afterwards`,
  },
  {
    code: /^CERT_HAS_EXPIRED$/,
    errorClass: 'tls',
    describe: host => `The certificate of ${host} has expired: renew it`,
    isLasting: true,
  },
  {
    code: /^CERT_NOT_YET_VALID$/,
    errorClass: 'tls',
    describe: host =>
      `The certificate of ${host} is not valid yet: check its dates and the clock of both machines`,
    isLasting: true,
  },
  {
    code: /^ERR_TLS_CERT_ALTNAME_/,
    errorClass: 'tls',
    describe: host => `The certificate of ${host} is for another name: get one for this name`,
    isLasting: true,
  },
  {
    code: /^DEPTH_ZERO_SELF_SIGNED_CERT$/,
    errorClass: 'tls',
    describe: host =>
      `The certificate of ${host} is self-signed: get one from an authority, or have the operator trust it with NODE_EXTRA_CA_CERTS`,
    isLasting: true,
  },
  {
    code: /^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT|GET_ISSUER_CERT_LOCALLY|VERIFY_LEAF_SIGNATURE)|CERT_UNTRUSTED)$/,
    errorClass: 'tls',
    describe: host =>
      `The certificate of ${host} leads to no trusted authority: send the intermediate certificates too, or have the operator trust the authority with NODE_EXTRA_CA_CERTS`,
    isLasting: true,
  },
  {
    code: /CERT|^UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED/,
    errorClass: 'tls',
    describe: (host, { code }) => `The certificate of ${host} is not valid (${code}): get a valid one`,
    isLasting: true,
  },
  {
    code: /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNKNOWN_PROTOCOL)$/,
    errorClass: 'tls',
    describe: host => `${host} does not use TLS: use the port of its HTTPS server`,
    isLasting: true,
  },
  {
    code: /^(ERR_TLS|ERR_SSL|EPROTO$)/,
    errorClass: 'tls',
    describe: (host, { code }) =>
      `${host} and this service could not agree on TLS (${code}): the receiver must support TLS 1.2 or newer`,
  },
  {
    code: /^HPE_HEADER_OVERFLOW$/,
    errorClass: 'protocol',
    describe: host => `${host} answered with more than 16 KiB of headers: send fewer`,
  },
  {
    code: /^HPE_/,
    errorClass: 'protocol',
    describe: (host, { code }) => `The answer of ${host} is not HTTP (${code}): check the address`,
  },
  {
    code: /^ECONNREFUSED$/,
    errorClass: 'connect',
    describe: host => `${host} refuses connections: check the port, and that the receiver runs`,
  },
  {
    code: /^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN|ENETDOWN)$/,
    errorClass: 'connect',
    describe: host => `${host} cannot be reached from here: check the address and the network`,
  },
  {
    code: /^(ECONNRESET|EPIPE|ECONNABORTED|ERR_SOCKET_CLOSED.*)$/,
    errorClass: 'connect',
    describe: host => `${host} closed the connection before it answered: check its log`,
  },
  {
    code: /^E[A-Z]+$/,
    errorClass: 'connect',
    describe: (host, { code }) => `No connection to ${host} could be made (${code}): check that it runs`,
  },
  {
    code: /^ERR_ABORTED$/,
    errorClass: 'other',
    describe: host => `The attempt was aborted before ${host} answered, since this service stopped`,
  },
  {
    code: /^$/,
    errorClass: 'protocol',
    describe: host => `${host} closed the connection without an answer: check its log`,
  },
]

/** Classifies an error of the HTTP client or of a socket, whose own text may contain secrets. */
export function classifyFailure(error: RequestError, target: URL): RequestFailure {
  const { code = '', event } = error
  const rule = FAILURE_RULES.find(({ code: known, phase }) => known.test(code) && (!phase || phase === event))
  if (!rule) {
    const sentence = `The request to ${target.host} ended before it was answered (${code})`
    return { errorClass: 'other', sentence, isLasting: false }
  }
  const { errorClass, describe, isLasting = false } = rule
  return { errorClass, sentence: describe(target.host, error), isLasting }
}
