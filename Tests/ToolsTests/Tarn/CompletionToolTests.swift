import Foundation
import TarnStore
import TestSupport
import Testing

/// What `tarn generate words` and the completion for bash offer.
@Suite struct CompletionToolTests {
  private let folder = TemporaryFolder()

  init() throws {
    var options = Store.Options()
    options.isDurable = false
    options.classes = [
      ClassDefinition(
        name: "Dog",
        properties: [
          .init(name: "name", type: .string, isIndexed: true), .init(name: "age", type: .int),
          .init(name: "addr", type: .link, isOptional: true, target: "Address"),
          .init(name: "two words", type: .int),
        ]),
      ClassDefinition(
        name: "Address", properties: [.init(name: "city", type: .string)], isEmbedded: true),
      ClassDefinition(name: "Door", properties: [.init(name: "open", type: .bool)]),
    ]
    let store = try StoreRegistry.open(folder.file("a b.tarn"), options)
    try store.openCursor(CursorRequest("indexer")).release()
  }

  private func words(_ line: String...) throws -> [Substring] {
    let done = try ToolProcess(folder, ["generate", "words", "--"] + line).finish()
    #expect(done.status == 0, "\(done.errors)")
    return done.output.split(separator: "\n")
  }

  @Test(arguments: [
    (["du"], ["dump"]), (["query", "a b.tarn", "Do"], ["Dog", "Door"]),
    (["query", "'a b.tarn'", "Dog", "na"], ["name"]),
    (["query", "a\\ b.tarn", "Dog", "two"], []),
    (["query", "a b.tarn", "Dog", "`tw"], ["`two words`"]),
    (["query", "a b.tarn", "Dog", "--sort", "age,n"], ["age,name"]),
    (["query", "a b.tarn", "Dog", "--sort=n"], ["--sort=name"]),
    (["query", "a b.tarn", "Dog", "-s", "n"], ["name"]),
    (["query", "a b.tarn", "Dog", "--aggregates", "sum:a"], ["sum:addr", "sum:age"]),
    (["query", "a b.tarn", "Dog", "--ex"], ["--explain"]),
    (["set", "a b.tarn", "Dog", "addr"], ["addr.city=", "addr="]),
    (["reindex", "a b.tarn", "Dog.n"], ["Dog.name"]),
    (["cursor", "s"], ["set", "show"]), (["cursor", "show", "a b.tarn", ""], ["indexer"]),
    (["watch", "a b.tarn", "Dog", "--cursor", "i"], ["indexer"]),
    (["watch", "a b.tarn", "Dog", "--ack", ""], ["auto", "manual"]),
    (["alter", "a b.tarn", "Dog", "--type", "age:do"], ["age:double"]),
    (["alter", "a b.tarn", "Dog", "--rename", "age=years,n"], ["age=years,name="]),
    (["query", "a"], []), (["query", "none.tarn", "D"], []), (["nothing", ""], []),
  ])
  func `names of the file are offered`(_ line: [String], _ offered: [String]) throws {
    let done = try ToolProcess(folder, ["generate", "words", "--"] + line).finish()
    #expect(done.errors == "")
    #expect(done.output.split(separator: "\n").map(String.init) == offered)
  }

  /// What bash runs for Tab.
  @Test(arguments: [
    ("query a\\ b.tarn Do", "Dog,Door"), ("query a\\ b.tarn Dog --group tw", ""),
    ("query a\\ b.tarn Dog --group \\`", "\\`two\\ words\\`"), ("dum", "dump"), ("query a", ""),
  ])
  func `bash asks for words`(_ line: String, _ offered: String) throws {
    let script = try ToolProcess.run(folder, "generate", "bash").output
    let done = try ToolProcess(
      folder,
      [
        "-c",
        """
        eval "$2"
        COMP_WORDS=(tarn); while IFS= read -r word; do COMP_WORDS+=("$word"); done
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tarn "$1"; IFS=,; printf %s "${COMPREPLY[*]}"
        """, "bash", ToolProcess.tarn.path, script,
      ], program: "/bin/bash",
      input: line.replacing("\\ ", with: "\u{1}").split(separator: " ")
        .map { $0.replacing("\u{1}", with: "\\ ") + "\n" }.joined()
    ).finish()
    #expect(done == .init(status: 0, output: offered, errors: ""))
  }

  /// A running daemon says what it has.
  @Test(.timeLimit(.minutes(30))) func `watches and sinks of the daemon are offered`() async throws
  {
    let configuration = """
      name: kennel
      http: {listen: \(folder.file("http.sock"))}
      watches:
        - name: dogs
          file: \(folder.file("a b.tarn"))
          class: Dog
          sinks:
            - {name: log, file: \(folder.file("log.jsonl"))}
            - {name: copy, file: \(folder.file("copy.jsonl"))}
      """
    _ = try folder.file("c.yaml", Array(configuration.utf8))
    #expect(try words("daemon", "--config", "c.yaml", "pause", "d") == [])
    let daemon = try ToolProcess(folder, ["daemon", "run", "--config", "c.yaml"])
    try await yieldUntil { try words("daemon", "--config", "c.yaml", "pause", "d") == ["dogs"] }
    #expect(try words("daemon", "-c", "c.yaml", "resume", "dogs", "") == ["copy", "log"])
    #expect(try words("daemon", "-c", "c.yaml", "resume", "cats", "") == [])
    daemon.signal(SIGTERM)
    #expect(daemon.status() == 0, "\(daemon.errors())")
  }
}
