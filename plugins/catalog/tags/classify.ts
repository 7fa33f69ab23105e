import type { ColumnInfo, ColumnKind } from '../../../connectors/catalog.ts'
import { splitWords } from './split-words.ts'

/** One line of the table: columns whose names say this, of these kinds, hold that. */
interface NameRule {
  tag: string
  kinds: readonly ColumnKind[]
  /** What the name says, apart by commas; words in small letters, in the singular, without accents. */
  says: string
  /** Words that make it another thing when they stand right before it: `server ip`. */
  unless?: string
  /** Canonical types that it is limited to, beside the kinds. */
  types?: RegExp
}

const TEXT: readonly ColumnKind[] = ['text']
const TEXT_JSON: readonly ColumnKind[] = ['text', 'json']
const TEXT_BYTES: readonly ColumnKind[] = ['text', 'binary', 'json']
/** Numbers that are written down as numbers, leading zeros lost. */
const DIGITS: readonly ColumnKind[] = ['text', 'integer', 'decimal']

const MACHINES = 'server, host, gateway, node, router, dns, nat, cluster, pod, vm, internal, bind, listen'

/**
 * What names say of columns, in English and the commonest words of German, French, Spanish and Portuguese. A name
 * that could as well mean something harmless (`name`, `token`, `account_number`, `age`, `city`) says nothing: a wrong
 * tag hides a column from those who look after it.
 */
const RULES: readonly NameRule[] = [
  {
    tag: 'pii.email',
    kinds: TEXT_JSON,
    says: 'email, e mail, mail, smtp addr, smtp address, correo, correo electronico, courriel, correio eletronico',
    unless: 'voice, direct, snail',
  },
  {
    tag: 'pii.phone',
    kinds: DIGITS,
    says: `phone, telephone, tel, mobile, mobile phone, cell phone, cellphone, cell number, contact number, fax, msisdn,
      contact no, whatsapp, telefon, kontakttelefon, mobiltelefon, rufnummer, rufnr, mobilnummer, mobilnr, mobil nummer,
      mobil nr, handynummer, handynr, telf, telfx, telefono, movil, telefone, celular, portable number`,
  },
  {
    tag: 'pii.name',
    kinds: TEXT,
    says: `first name, last name, full name, middle name, given name, family name, maiden name, legal name, name first,
      name last, name full, surname, forename, fname, lname, nick name, nickname, user name, username, screen name,
      person name, customer name, client name, contact name, employee name, patient name, member name, passenger name,
      guest name, student name, teacher name, driver name, recipient name, beneficiary name, cust name, emp name,
      card holder, card holder name, cardholder, cardholder name, name on card, account holder, account holder name,
      contact person, vorname, nachname, familienname, kundenname, kunden name, mitarbeiter name, benutzername,
      benutzer name, kontoinhaber, ansprechpartner, prenom, nom famille, nom complet, apellido, nombre completo,
      nombre cliente, sobrenome, nome completo, nome cliente`,
    unless: 'device, jdbc, odbc, http, oauth, oidc, saml, api, app',
  },
  {
    tag: 'pii.address',
    kinds: TEXT_JSON,
    says: `address, addr, street, street name, street address, anschrift, lieferanschrift, rechnungsanschrift, wohnanschrift,
      strasse, stras, adresse, adresszeile, lieferadresse, rechnungsadresse, wohnadresse, direccion, calle, rue, endereco,
      rua`,
    unless: `email, e, mail, smtp, ip, mac, wallet, contract, memory, web, url, site, http, network, bus, bitcoin, btc, eth,
      ethereum, crypto, register, hardware, bluetooth, device, token, base, remote, client, peer, ${MACHINES}`,
  },
  {
    tag: 'pii.address',
    kinds: DIGITS,
    says: `postcode, post code, postal code, zip, zip code, house number, street number, plz, postleitzahl, hausnummer,
      hausnr, haus nr, haus nummer, pstlz, code postal, codigo postal, cep`,
  },
  {
    tag: 'pii.birth_date',
    kinds: ['date', 'timestamp', 'text', 'integer'],
    says: `birth date, birth dt, bday, date birth, birth day, birthday, birth year, year birth, dob, born, born on, geburtsdatum,
      geburtstag, geburtsjahr, date naissance, fecha nacimiento, data nascimento`,
  },
  {
    tag: 'pii.national_id',
    kinds: DIGITS,
    says: `ssn, social security number, national insurance, sin number, passport number, personnummer, bsn, cpf, dni, pesel,
      nino, aadhaar, curp, sozialversicherungsnummer, sozialversicherungsnr,
      sozialversicherung nr, sozialversicherungs nr, rentenversicherungsnummer, numero securite sociale`,
  },
  {
    tag: 'pii.national_id',
    kinds: TEXT,
    says: `social security, national id, national identifier, passport, tax id, taxpayer id, nif, nie, driver license,
      drivers license, driver licence, driving license, driving licence, identity card, id card, id card number,
      steuer id, steueridentifikationsnummer, steuernummer, steuernr, steuer nr, personalausweis, ausweisnummer,
      ausweis nr, fiscal code, codice fiscale`,
  },
  {
    tag: 'pii.ip_address',
    kinds: ['text', 'other'],
    says: 'ip, ipv, ip v, remote addr',
    unless: `elastic, floating, private, ${MACHINES}`,
  },
  { tag: 'pii.ip_address', kinds: ['integer', 'decimal'], says: 'ip address, ip addr', unless: MACHINES },
  {
    tag: 'pii.ip_address',
    kinds: ['other'],
    types: /^inet$/,
    says: 'address, addr, client, remote, peer, visitor, user, login',
    unless: MACHINES,
  },
  {
    tag: 'pii.device',
    kinds: ['text', 'other', 'integer'],
    says: 'mac address, mac addr, imei, imsi, idfa, gaid, udid, advertising id',
    unless: MACHINES,
  },
  {
    tag: 'pii.location',
    kinds: ['float', 'decimal', 'text'],
    says: 'latitude, longitude, lat, lng, lon, breitengrad, laengengrad, latitud, longitud',
  },
  {
    tag: 'pii.location',
    kinds: ['text', 'json', 'other'],
    says: `lat lng, lat lon, latitude longitude, geo location, geolocation, gps, gps position, gps location,
      gps coordinate, coordinate, geo coordinate, geo point, home location, current location, last location`,
  },
  {
    tag: 'sensitive.payment_card',
    kinds: DIGITS,
    says: `credit card, credit card number, debit card, debit card number, card number, card no, cc number, cc num, ccnum, pan number,
      primary account number, cvv, cvc, card security code, kreditkarte, kreditkartennummer, kreditkartennr, carte credit,
      numero tarjeta, tarjeta credito, numero cartao, cartao credito`,
    unless: 'gift, loyalty, id, sim, score, business, report, membership',
  },
  {
    tag: 'sensitive.bank_account',
    kinds: DIGITS,
    says: `iban, bank account, bank acct, bank acc, kontonummer, kontonr, konto nummer, konto nr, kto nr, bankkonto, bankn,
      bankverbindung, compte bancaire, cuenta bancaria,
      numero cuenta, conta bancaria, clabe`,
  },
  {
    tag: 'sensitive.credential',
    kinds: TEXT_BYTES,
    says: `password, passwd, pwd, passphrase, passcode, passhash, pw hash, passwort, kennwort, contrasena, senha, mot passe, credential,
      secret, client secret, secret key, api key, apikey, private key, access key, signing key, encryption key,
      auth key, secret key base, access token, api token, oauth token, refresh token, auth token, id token, jwt,
      session token, bearer token, confirmation token, unlock token, reset token, remember token, password token,
      password reset token, reset password token, token hash, otp, otp secret, totp secret, mfa secret, pin hash,
      recovery code, backup code, security answer, secret answer, password hint`,
    unless: 'top, trade',
  },
  {
    tag: 'sensitive.health',
    kinds: TEXT_JSON,
    says: `diagnosis, diagnosis code, icd, diagnoses, diagnose, diagnostico, blood type, blood group, medical history, medical condition,
      medical record, mrn, health condition, medication, allergy, allergies, prescription, symptom, hiv status,
      disability, icd code, vaccination status, health insurance number, versichertennummer,
      krankenversicherungsnummer, krankheit, blutgruppe`,
  },
  { tag: 'sensitive.health', kinds: ['boolean', 'text'], says: 'pregnant, hiv positive, diabetic' },
]

/** What may follow without making it another thing: `phone_number`, `email_2`, `password_hash`; but not `email_sent`. */
const NEUTRAL_ENDINGS = `number, no, nr, num, nbr, numero, nummer, value, val, text, txt, str, string, raw, clean, cleaned,
  normalized, normalised, formatted, lower, upper, ci, hash, hashed, digest, md, sha, bcrypt, salt, encrypted, enc, cipher, plain,
  primary, secondary, alternate, alternative, alt, home, work, office, private, privat, personal, business, geschaeftlich,
  mobile, main, other,
  old, new, previous, prev, current, last, original, orig, address, adresse, addr, postale, line, field, col, column, kana, latin, local, intl,
  customer, cust, client, cliente, user, usuario, utilisateur, contact, contacto, contato, employee, emp, kunde, patient,
  member, person, owner, sender, recipient, holder`

/** At the start of a name, what makes it a count, a flag or a wish: `has_phone`, `num_emails`, `send_email`. */
const LEADING_VERBS = new Set(
  splitList(`is, are, has, have, was, can, may, should, need, needs, require, requires, required, allow, allows, enable,
    enabled, send, sent, verify, verified, opt, use, show, hide, count, cnt, num, total, sum, avg, min, max`),
)

/** What other words run together are made up of, such as `CUSTEMAIL` and `homephone`. */
const PIECES =
  'id, name, billing, bill, shipping, delivery, login, guest, student, national, date, code, of, de'

function splitList(text: string): string[] {
  return text.split(',').map(item => item.trim().replaceAll(/\s+/g, ' '))
}

interface Phrase extends Omit<NameRule, 'says' | 'unless'> {
  words: readonly string[]
  unless: ReadonlySet<string>
}

const PHRASES: readonly Phrase[] = RULES.flatMap(({ says, unless, ...rule }) =>
  splitList(says).map(phrase => ({
    ...rule,
    words: phrase.split(' '),
    unless: new Set(unless === undefined ? [] : splitList(unless)),
  })),
)
/** By their first words: of 200, a name is asked about few. */
const PHRASES_BY_FIRST_WORD = Map.groupBy(PHRASES, ({ words: [first] }) => first)
const NEUTRAL_WORDS = new Set(splitList(NEUTRAL_ENDINGS))
const VOCABULARY: ReadonlySet<string> = new Set([
  ...PHRASES.flatMap(({ words }) => words),
  ...NEUTRAL_WORDS,
  ...splitList(PIECES),
])

/** Texts too short for personal data: flags such as `Y`. */
const FLAG_TYPE = /^(var)?char\([12]\)$/
const TEXTS = /^(text|varchar|char|citext|string|array<(string|varchar))/
const NUMBERS: ReadonlySet<ColumnKind> = new Set(['integer', 'decimal', 'float'])

/**
 * The tags of a column by what its name says and its type can hold, sorted; its values are never looked at. Built to
 * be right rather than complete.
 */
export function tagsByName({ name, kind, type }: Pick<ColumnInfo, 'name' | 'kind' | 'type'>): string[] {
  if (FLAG_TYPE.test(type)) return []
  const { words, isPlural } = splitWords(name, VOCABULARY)
  const [first] = words
  // Several of something in one number is how many there are.
  if (first === undefined || LEADING_VERBS.has(first) || (isPlural && NUMBERS.has(kind))) return []
  const isList = kind === 'other' && /\[\]$|^array</.test(type) && TEXTS.test(type)
  const held: ColumnKind = isList ? 'text' : kind
  const tags: string[] = []
  for (const [start, word] of words.entries()) {
    for (const phrase of PHRASES_BY_FIRST_WORD.get(word) ?? []) {
      if (
        phrase.kinds.includes(held) &&
        (phrase.types?.test(type) ?? true) &&
        matchesPhrase(phrase, words, start)
      )
        tags.push(phrase.tag)
    }
  }
  return [...new Set(tags)].sort()
}

/** Whether a name says a phrase from a word on, and after it only what changes nothing. */
function matchesPhrase({ words: phrase, unless }: Phrase, words: readonly string[], start: number): boolean {
  return (
    phrase.every((word, index) => words[start + index] === word) &&
    !unless.has(words[start - 1] ?? '') &&
    words.slice(start + phrase.length).every(word => NEUTRAL_WORDS.has(word) || /^[a-z]$/.test(word))
  )
}
