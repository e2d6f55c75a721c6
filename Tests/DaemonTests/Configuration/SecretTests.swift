import Foundation
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon

/// Secrets that are not in the configuration.
struct SecretTests {
  private let folder = TemporaryFolder()

  private func webhook(_ keys: String) throws -> (WebhookSettings?, [String]) {
    let text = """
      watches:
        - name: notes
          file: /srv/notes.tarn
          class: Note
          sinks: [{webhook: 'https://host/x', \(keys)}]
      """
    let path = try folder.file("test.yaml", Array(text.utf8))
    let (settings, problems) = ConfigurationFiles(path).read()
    let messages = problems.map(\.message)
    guard case .webhook(let webhook)? = settings.watches.first?.sinks.first?.kind else {
      return (nil, messages)
    }
    return (webhook, messages)
  }

  @Test func readsFilesVariablesAndCredentials() throws {
    let path = try folder.file("key", Array("secret\r\n".utf8))
    let environment = ["KEY": "from env", "CREDENTIALS_DIRECTORY": folder.path, "EMPTY": ""]
    #expect(try SecretSource.file(path).read(environment) == Array("secret".utf8))
    #expect(try SecretSource.environment("KEY").read(environment) == Array("from env".utf8))
    #expect(try SecretSource.credential("key").read(environment) == Array("secret".utf8))
    // Replaced meanwhile.
    _ = try folder.file("key", Array("other".utf8))
    #expect(try SecretSource.credential("key").read(environment) == Array("other".utf8))
    let empty = try folder.file("empty", Array("\n".utf8))
    for source in [
      SecretSource.file(empty), .file(folder.file("none")), .environment("EMPTY"),
      .environment("NONE"), .credential("none"),
    ] {
      #expect(throws: ToolError.self) { try source.read(environment) }
    }
    #expect(throws: ToolError.self) { try SecretSource.credential("key").read([:]) }
  }

  @Test func readsTheKeysOfSecrets() throws {
    let (settings, problems) = try webhook(
      "secret: {credential: hook}, headers: ['A: b', {name: Authorization, prefix: 'Bearer ', "
        + "env: TOKEN}]")
    #expect(problems == [])
    #expect(settings?.secret == .credential("hook"))
    #expect(settings?.headers == ["A: b"])
    let header = SecretHeader(
      name: "Authorization", prefix: "Bearer ", source: .environment("TOKEN"))
    #expect(settings?.secretHeaders == [header])
    #expect(try webhook("secret-file: /etc/key").0?.secret == .file("/etc/key"))
  }

  @Test(arguments: [
    ("secret: {file: /a, env: B}", "needs exactly one of the keys file, env, credential"),
    ("secret: {}", "needs exactly one of the keys file, env, credential"),
    ("secret: {file: a}", "needs an absolute path, not 'a'"),
    ("secret: {env: 'a=b'}", "needs the name of a variable, not 'a=b'"),
    (
      "secret: {credential: ../a}",
      "needs the name of a credential, without '/' and ':', not '../a'"
    ),
    ("secret: {env: A}, secret-file: /a", "there is 'secret-file', too: give one of them"),
    ("headers: [{name: 'Tarn-Signature', env: A}]", "'Tarn-Signature' is set by the daemon itself"),
    ("headers: [{name: A}]", "needs exactly one of the keys file, env, credential"),
  ])
  func refusesWhatNamesNoSecret(_ keys: String, _ problem: String) throws {
    #expect(try webhook(keys).1 == [problem])
  }

  /// A URL is read like other secrets, and no message has any of it.
  @Test func readsURLs() throws {
    let path = try folder.file("url", Array("http://127.0.0.1:1/hook-abc\n".utf8))
    let text = """
      watches:
        - name: notes
          file: /srv/notes.tarn
          class: Note
          sinks: [{webhook: {file: \(path)}}, {name: b, webhook: {credential: hook}}]
      """
    let configuration = try folder.file("test.yaml", Array(text.utf8))
    let (settings, problems) = ConfigurationFiles(configuration).read()
    #expect(problems == [])
    #expect(UnitDropIn.text(settings).contains("LoadCredential=hook\n"))
    guard case .webhook(let webhook)? = settings.watches.first?.sinks.first?.kind else {
      Issue.record("no webhook")
      return
    }
    #expect(try webhook.readURL() == "http://127.0.0.1:1/hook-abc")
    let sink = WebhookSink(webhook, Slots(1))
    #expect {
      try sink.tryOut([0x0a], of: settings.watches[0])
    } throws: { error in
      let message = "\(error)"
      return message.hasPrefix("the server: ") && !message.contains("127.0.0.1")
        && !message.contains("abc")
    }
    for other in ["abc", "ftp://abc/", "http://a b"] {
      _ = try folder.file("url", Array(other.utf8))
      #expect {
        try webhook.readURL()
      } throws: {
        "\($0)" == "the secret is not a URL that begins with https:// or http://"
      }
    }
  }

  /// A line break in a secret begins no header, and no message has the secret.
  @Test func refusesControlCharactersInHeaders() throws {
    let path = try folder.file("token", Array("abc\r\nX: y".utf8))
    let header = SecretHeader(name: "A", prefix: "Bearer ", source: .file(path))
    #expect {
      try header.line()
    } throws: { error in
      "\(error)".contains("the header A") && !"\(error)".contains("abc")
    }
    _ = try folder.file("token", Array("abc\n".utf8))
    #expect(try header.line() == "A: Bearer abc")
  }

  @Test func aUnitLoadsCredentials() throws {
    let text = """
      http: {listen: '127.0.0.1:80', token: {credential: token}}
      watches:
        - name: notes
          file: /var/lib/tarn/notes.tarn
          class: Note
          sinks: [{webhook: 'https://host/x', headers: [{name: A, credential: hook}]}]
      """
    let path = try folder.file("test.yaml", Array(text.utf8))
    let (settings, problems) = ConfigurationFiles(path).read()
    #expect(problems == [])
    #expect(
      UnitDropIn.text(settings).contains("LoadCredential=hook\nLoadCredential=token\n"))
  }
}
