import t from 'tap'
import type { ColumnKind } from '../../../../connectors/catalog.ts'
import { tagsByName } from '../../../../plugins/catalog/tags/classify.ts'

const KINDS: Record<string, ColumnKind> = {
  text: 'text',
  varchar: 'text',
  char: 'text',
  citext: 'text',
  int: 'integer',
  bigint: 'integer',
  numeric: 'decimal',
  double: 'float',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'timestamp',
  bytea: 'binary',
  jsonb: 'json',
}

/** The tags of a column such as `email text`. */
function tagsOf(column: string): string {
  const [, name = '', type = ''] = /^(.*) (\S+)$/su.exec(column) ?? []
  return tagsByName({ name, type, kind: KINDS[type.replace(/\(.*/, '')] ?? 'other' }).join(' ')
}

const TAGGED: Record<string, string[]> = {
  'pii.email': [
    'email text',
    'e_mail text',
    'E-Mail varchar(200)',
    'eMail text',
    'EMAILADDR text',
    'emailaddress text',
    'custEmail2 citext',
    'customer.email text',
    'EMAIL ADDRESS text',
    'billing_email_old text',
    'emails text[]',
    'email_hash text',
    'mail text',
    'correo_electronico text',
    'courriel text',
    'email_cliente text',
    'adresse_email text',
    'e_mail_adresse text',
    'email_privat text',
    'SMTP_ADDR varchar(241)',
  ],
  'pii.phone': [
    'phone text',
    'phone_number varchar(30)',
    'PHONENO text',
    'homephone text',
    'phone bigint',
    'mobile text',
    'fax text',
    'Téléphone text',
    'telefono_movil text',
    'Telefonnummer_alt text',
    'mobil_nr text',
    'tel_geschaeftlich text',
    'TELF1 varchar(16)',
    'contact_no text',
  ],
  'pii.name': [
    'first_name text',
    'LastName text',
    'fullname text',
    'customer_name text',
    'username text',
    'surname text',
    'Vorname text',
    'prénom text',
    'apellidos text',
    'nome_completo text',
    'name_on_card text',
    'contact_person text',
    'Mitarbeiter_Name text',
    'driver_name text',
  ],
  'pii.address': [
    'address text',
    'address2 text',
    'shippingAddressLine1 text',
    'street text',
    'zip_code text',
    'postcode int',
    'Straße text',
    'PLZ char(5)',
    'home_address jsonb',
    'dirección text',
    'STRAS varchar(35)',
    'Rechnungsadresse text',
    'haus_nr text',
  ],
  'pii.birth_date': [
    'date_of_birth date',
    'dateOfBirth timestamp',
    'BIRTHDATE date',
    'dob text',
    'birth_year int',
    'Geburtsdatum date',
    'fecha_de_nacimiento date',
    'birth_dt date',
  ],
  'pii.national_id': [
    'ssn text',
    'SocialSecurityNumber text',
    'passport_no text',
    'tax_id text',
    'cpf bigint',
    'ssn_last4 text',
    'national_insurance_no text',
    'Steuernummer text',
  ],
  'pii.ip_address': [
    'ip_address inet',
    'ip text',
    'ipv4 text',
    'clientIP inet',
    'client_addr inet',
    'adresse_ip text',
    'ip_adresse text',
    'remote_addr text',
    'last_login_ip text',
  ],
  'pii.device': ['mac_address macaddr', 'imei text'],
  'pii.location': ['latitude double', 'lat numeric(9,6)', 'lng double', 'geolocation point'],
  'sensitive.payment_card': [
    'credit_card_number text',
    'cardNumber text',
    'cvv char(3)',
    'cc_number bigint',
    'cc_num text',
    'card_no text',
  ],
  'sensitive.bank_account': ['iban text', 'bank_account_number text', 'bank_account text', 'konto_nr text'],
  'sensitive.credential': [
    'password text',
    'password_hash bytea',
    'passwordHash text',
    'pwd text',
    'api_key text',
    'accessToken text',
    'client_secret text',
    'mot_de_passe text',
    'contraseña text',
    'password_digest text',
    'oauth_token text',
    'secret_key_base text',
    'encryption_key bytea',
  ],
  'sensitive.health': [
    'diagnosis text',
    'blood_type text',
    'allergies jsonb',
    'icd10 text',
    'diagnosis_code text',
    'pregnant boolean',
  ],
}

const PLAIN = [
  'email_sent boolean',
  'email_sent text',
  'email_count int',
  'emails int',
  'email_verified_at timestamp',
  'email_template text',
  'email_subject text',
  'email_domain text',
  'email_id uuid',
  'email boolean',
  'has_email char(1)',
  'send_email text',
  'phone_verified boolean',
  'phone_type text',
  'phones int',
  'has_phone char(1)',
  'mobile boolean',
  'is_mobile text',
  'address_id int',
  'address_id text',
  'address int',
  'wallet_address text',
  'web_address text',
  'addresses_total int',
  'name text',
  'product_name text',
  'company_name text',
  'filename text',
  'hostname text',
  'table_name text',
  'name_id int',
  'first_name_changed_at timestamp',
  'password_reset_at timestamp',
  'password_changed boolean',
  'password_policy_id int',
  'token_count int',
  'token text',
  'access_token_expires_at timestamp',
  'birthday_email_sent boolean',
  'born_in_country int',
  'ip_version int',
  'ip int',
  'server_ip inet',
  'elastic_ip text',
  'jdbc_driver_name text',
  'oauth_client_name text',
  'top_secret text',
  'diagnostics text',
  'encryption_key_id text',
  'email_last_sent_at text',
  'host inet',
  'shipped_at timestamp',
  'relationship text',
  'membership text',
  'microphone text',
  'zip boolean',
  'zip_file text',
  'tax_id int',
  'user_id int',
  'created_by text',
  'account_number text',
  'gift_card_number text',
  'card_type text',
  'credit_card_id int',
  'bank_account_id int',
  'status text',
  'total numeric(10,2)',
  'latency double',
  'flat text',
  'plate text',
  'diagnosis_id int',
  'health_status text',
  'description text',
  'country text',
]

t.test('columns of personal data are recognised by their names and types', async t => {
  for (const [tag, columns] of Object.entries(TAGGED)) {
    for (const column of columns) t.equal(tagsOf(column), tag, column)
  }
})

t.test('columns that only mention personal data, or cannot hold it, are left alone', async t => {
  for (const column of PLAIN) t.equal(tagsOf(column), '', column)
})

t.test('names that are no words are no trouble', async t => {
  const hostile = ['', ' ', '_', '__', '...', '1', '\u0000', '\ud800', 'constructor', '__proto__', 'toString']
  for (const name of [...hostile, 'hasOwnProperty', '😀'.repeat(63), 'ﬁ', '電話', 'İ', 'a'.repeat(5_000)])
    t.same(tagsByName({ name, type: 'text', kind: 'text' }), [], JSON.stringify(name.slice(0, 20)))
})

t.test('no name makes it throw, take long, or give a tag twice', async t => {
  const letters = [
    ...'aAeEmMiIlL_-. 0129éßÑ電😀\u0301\u200d\ud83d',
    'email',
    'phone',
    'address',
    'of',
    'ip',
    'no',
  ]
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const kinds = Object.values(KINDS)
  for (let turn = 0; turn < 5_000; turn++) {
    const name = Array.from({ length: random(60) }, () => letters[random(letters.length)]).join('')
    const tags = tagsByName({ name, type: 'text', kind: kinds[random(kinds.length)] ?? 'text' })
    if (new Set(tags).size < tags.length || tags.join() !== tags.toSorted().join()) t.fail(name)
    for (const tag of tags) if (!/^(pii|sensitive)\.[a-z_]+$/.test(tag)) t.fail(`${name} is ${tag}`)
  }
  // Made of known words only, so that every way to split it is looked at.
  t.same(tagsByName({ name: 'idname'.repeat(500), type: 'text', kind: 'text' }), [])
})
