import Foundation
import TestSupport
import Testing

@testable import TarnDaemon

struct ConfigurationTests {
  private let folder = TemporaryFolder()

  private static let watch = """
    watches:
      - name: notes
        file: /srv/notes.tarn
        class: Note
        sinks:
          - file: /srv/out.jsonl

    """

  private func read(_ text: String) throws -> (DaemonSettings, [String]) {
    let path = try folder.file("test.yaml", Array(text.utf8))
    let (settings, problems) = ConfigurationFiles(path).read()
    return (settings, problems.map { "\($0)".replacingOccurrences(of: path, with: "f") })
  }

  @Test func readsAllKeys() throws {
    let (settings, problems) = try read(
      """
      name: mine
      state: /var/lib/tarn
      commands: 3
      http: {listen: /run/tarn.sock, mode: 0660}
      watches:
        - name: notes
          rename: former
          file: /srv/*.tarn
          class: Note
          where: 'count > 3'
          columns: [text, count]
          keep: 2h,64MB
          old-values: true
          start: newest
          delivery: {every-commit: true, interval: 250ms, delay: 2s, last-retry: 5m}
          sinks:
            - {name: a, exec: [cat, -n], timeout: 5s, grace: 1s}
            - {webhook: 'https://host/x', headers: ['A: b'], body: 64kB, timeout: 3s}
            - {socket: /run/x.sock, mode: 0666, patience: 1m, clients: 7}
            - {events: true, clients: 9}
      """)
    #expect(problems == [])
    #expect(settings.instance == "mine")
    #expect(settings.commandsMax == 3)
    #expect(settings.http == HTTPSettings(address: .socket("/run/tarn.sock", mode: 0o660)))
    let watch = try #require(settings.watches.first)
    #expect(watch.formerName == "former")
    #expect(watch.columns == ["text", "count"])
    #expect(watch.keeps?.bytes == 64_000_000)
    #expect(watch.start == .newest)
    #expect(watch.delivery.interval == .milliseconds(250))
    #expect(watch.delivery.delay == .seconds(2))
    #expect(watch.delivery.isEveryCommit)
    #expect(watch.sinks.map(\.name) == ["a", "webhook", "socket", "events"])
    #expect(
      watch.sinks[0].kind
        == .exec(ExecSettings(command: ["cat", "-n"], timeout: .seconds(5), grace: .seconds(1))))
    #expect(
      watch.sinks[2].kind
        == .socket(
          SocketSettings(path: "/run/x.sock", mode: 0o666, patience: .seconds(60), clientsMax: 7)))
  }

  @Test func takesJSON() throws {
    let (settings, problems) = try read(
      """
      {"watches": [{"name": "n", "file": "/a", "class": "C", "sinks": [{"exec": ["true"]}]}]}
      """)
    #expect(problems == [])
    #expect(settings.watches.map(\.name) == ["n"])
  }

  @Test(arguments: [
    ("", "f:1: the file is empty"),
    ("watches: 5\n", "f:1: watches: needs a list, not '5'"),
    ("a: 1\na: 2\n", "f:2: a: the key is there twice, first in line 1"),
    ("a: &x 1\nb: *x\n", "f:1: anchors are not allowed"),
    ("a: *x\n", "f:1: aliases are not allowed"),
    ("a: !!str 1\n", "f:1: tags are not allowed"),
    ("{", "f:2: did not find expected node content"),
    ("--- {}\n--- {}\n", "f:2: the file has more than one document"),
    (
      watch + "color: red\n",
      "f:7: color: is not a key here; there are commands, http, name, state, sync, watches"
    ),
    (watch + "state: here\n", "f:7: state: needs an absolute path, not 'here'"),
    (
      watch + "http: {listen: 'localhost:80'}\n",
      "f:7: http.listen: needs a token-file, because anybody can connect to a port"
    ),
    (
      watch.replacingOccurrences(of: "/srv/out.jsonl", with: "out"),
      "f:6: watches[0].sinks[0].file: needs an absolute path, not 'out'"
    ),
    (
      watch + "        events: true\n",
      "f:6: watches[0].sinks[0]: needs exactly one of the keys exec, file, socket, webhook, events"
    ),
    (
      watch + "    delivery: {interval: soon}\n",
      "f:7: watches[0].delivery.interval: needs a time such as 250ms, 90s, 5m or 2h, not 'soon'"
    ),
    (
      watch + "    keep: much\n",
      "f:7: watches[0].keep: 'much' is not a limit: give an age such as 90s, 5m, 2h or 7d, a size "
        + "such as 500MB or 1GB, both with a comma, or none"
    ),
    (
      watch.replacingOccurrences(of: "- name: notes", with: "- name: a/b"),
      "f:2: watches[0].name: needs 1 to 64 letters, digits and '-', '_', '.', not 'a/b'"
    ),
    (
      watch + "http: {listen: /run/x.sock, mode: 432}\n",
      "f:7: http.mode: needs octal rights with a 0 in front, such as 0660, not '432'"
    ),
    (
      watch + "    keep: 7d,0\n",
      "f:7: watches[0].keep: a cursor with the limit 0 would need a full resync with each "
        + "batch: give a longer age, a larger size, or none"
    ),
    (
      watch.replacingOccurrences(of: "file: /srv/out.jsonl", with: "exec: ['a{key}']"),
      "f:6: watches[0].sinks[0].exec: '{key}' cannot be in the program's name"
    ),
    (
      watch.replacingOccurrences(
        of: "file: /srv/out.jsonl",
        with: "{webhook: 'http://a', headers: ['content-length: 3']}"
      ),
      "f:6: watches[0].sinks[0].headers: 'content-length' is set by the daemon itself"
    ),
    ("watches: [{name: n}]\n", "f:1: watches[0]: the key 'file' is missing"),
  ])
  func namesWhatIsWrong(_ text: String, _ problem: String) throws {
    let (_, problems) = try read(text)
    #expect(problems.contains(problem), "\(problems)")
  }

  @Test func namesWhatIsWrongWithClasses() throws {
    let several = Self.watch.replacingOccurrences(of: "class: Note", with: "classes: [A, B]")
    func problems(_ text: String) throws -> [String] { try read(text).1 }
    #expect(
      try problems(Self.watch + "    classes: [A]\n") == [
        "f:4: watches[0].class: there is 'classes', too: give it there"
      ])
    #expect(
      try problems(several.replacingOccurrences(of: "B]", with: "{class: A}]")) == [
        "f:4: watches[0].classes: the class 'A' is there twice"
      ])
    #expect(
      try problems(several.replacingOccurrences(of: "file: /srv/out.jsonl", with: "socket: /run/a"))
        == [])
    let command = several.replacingOccurrences(
      of: "file: /srv/out.jsonl", with: "exec: [a, '{key}']")
    #expect(
      try problems(command) == [
        "f:6: watches[0].sinks[0].exec: '{key}' does not say of which class: give each class a "
          + "watch of its own"
      ])
    let names = try read(several).0.watches.first?.classes.map(\.name)
    #expect(names == ["A", "B"])
  }

  @Test func mergesAFolder() throws {
    _ = try folder.file("b.yaml", Array(Self.watch.utf8))
    _ = try folder.file(
      "a.yml",
      Array(
        ("commands: 2\n"
          + Self.watch.replacingOccurrences(of: "name: notes", with: "name: other")
          .replacingOccurrences(of: "out.jsonl", with: "other.jsonl")).utf8))
    _ = try folder.file("c.txt", Array("not read".utf8))
    let (settings, problems) = ConfigurationFiles(folder.path).read()
    #expect(problems == [])
    #expect(settings.watches.map(\.name) == ["other", "notes"])
    #expect(settings.commandsMax == 2)
  }

  @Test func refusesDoubles() throws {
    _ = try folder.file("a.yaml", Array(Self.watch.utf8))
    _ = try folder.file("b.yaml", Array(Self.watch.utf8))
    let (_, problems) = ConfigurationFiles(folder.path).read()
    #expect(
      problems.map(\.message) == [
        "there are two watches with the name 'notes'",
        "there are two sinks of 'notes' with the name 'file'",
        "there are two sinks with the file '/srv/out.jsonl'",
      ])
  }

  @Test func refusesAnotherUserUnlessRoot() throws {
    let (_, problems) = try read(
      Self.watch.replacingOccurrences(
        of: "file: /srv/out.jsonl", with: "exec: ['true']\n        user: no-such-user"))
    #expect(problems.count == 1)
    #expect(problems.first?.hasPrefix("f:7: watches[0].sinks[0].user: ") == true)
  }

  @Test func findsMarksBesideAnything() throws {
    #expect(Metrics.escaped("a\"\u{301}\\\u{200d}\r\n") == "a\\\"\u{301}\\\\\u{200d}\r\\n")
    #expect(UnitDropIn.escaped("/a %\u{301}\"\u{fe0f}") == "\"/a %%\u{301}\\\"\u{fe0f}\"")
    #expect(UnitDropIn.escaped("/a\nExecStart=b") == "\"/a\\nExecStart=b\"")
    #expect(ConfigurationFiles("/etc/a\u{600}.yaml").instance == "a\u{600}")
    let (_, problems) = try read(
      Self.watch.replacingOccurrences(
        of: "file: /srv/out.jsonl",
        with: #"{webhook: 'https://host/x', headers: ["A: b\r\nX: y", "A:\u0301"]}"#))
    #expect(problems.count == 1)
    #expect(problems.first?.contains("headers") == true)
  }

  @Test func printsWhatAUnitNeeds() throws {
    let (settings, problems) = try read(
      """
      http: {listen: /run/tarn/http.sock}
      watches:
        - {name: a, file: '/srv/a b/*/x.tarn', class: A, sinks: [{file: /var/log/tarn/a.jsonl}]}
        - {name: b, file: /var/lib/tarn/b.tarn, class: B, sinks: [{socket: /run/tarn/b.sock}]}
        - {name: c, file: /home/me/100%.tarn, class: C, sinks: [{exec: [cat]}]}
      """)
    #expect(problems == [])
    #expect(
      UnitDropIn.text(settings) == """
        # systemctl edit the unit, and put this there.
        [Service]
        ReadWritePaths=-/home/me
        ReadWritePaths=-"/srv/a b"
        ReadWritePaths=-/var/log/tarn
        ProtectHome=no

        """)
  }
}
