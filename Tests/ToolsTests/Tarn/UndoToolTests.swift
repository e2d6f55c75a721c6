import Foundation
import TarnStore
import TestSupport
import Testing

/// `tarn undo`, `tarn revert`, and `tarn diff` of versions.
@Suite struct UndoToolTests {
  private let folder = TemporaryFolder()

  private func tarn(_ arguments: String..., input: String = "") throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments, input: input).finish()
  }

  /// Versions 1 (two dogs), 2 (Rex is 4), 3 (Ann is gone) and 4 (Rex is 5).
  private func makeFile(keeping options: [String]) throws {
    let dogs = "{\"id\":1,\"name\":\"Rex\",\"age\":3}\n{\"id\":2,\"name\":\"Ann\",\"age\":9}\n"
    let made = try tarn(
      "import", "a.tarn", "-", "-c", "Dog", "-f", "jsonl", "-k", "id", input: dogs)
    #expect(made.status == 0, "\(made.errors)")
    if !options.isEmpty {
      let kept = try ToolProcess(folder, ["retention", "set", "a.tarn"] + options).finish()
      #expect(kept.status == 0, "\(kept.errors)")
    }
    for arguments in [
      ["set", "a.tarn", "Dog", "age=4", "-w", "id == 1"],
      ["delete", "a.tarn", "Dog", "-w", "id == 2"],
      ["set", "a.tarn", "Dog", "age=5", "-w", "id == 1"],
    ] {
      let done = try ToolProcess(folder, arguments).finish()
      #expect(done.status == 0, "\(done.errors)")
    }
  }

  private static let allKept = ["--versions", "100", "--old-values"]

  private func dogs() throws -> String { try tarn("export", "a.tarn", "Dog").output }

  @Test func `undo takes one commit back`() throws {
    try makeFile(keeping: Self.allKept)
    let undone = try tarn("undo", "a.tarn", "3")
    #expect(undone == .init(status: 0, output: "took back version 3, version 5\n", errors: ""))
    let both = "{\"id\":1,\"name\":\"Rex\",\"age\":5}\n{\"id\":2,\"name\":\"Ann\",\"age\":9}\n"
    #expect(try dogs() == both)
    let again = try tarn("undo", "a.tarn", "3", "--overwrite")
    #expect(again.output == "nothing of version 3 is left to take back, version 5\n")
  }

  @Test func `later changes of the same are listed`() throws {
    try makeFile(keeping: Self.allKept)
    let refused = try tarn("undo", "a.tarn", "2")
    #expect(refused.status == 1)
    #expect(
      refused.errors == """
        tarn: version 2 was not taken back, because later commits changed the same:
          Dog 1: age was set again
        --overwrite takes it back, and loses these later changes

        """)
    #expect(try tarn("undo", "a.tarn", "2", "--overwrite").status == 0)
    #expect(try dogs() == "{\"id\":1,\"name\":\"Rex\",\"age\":3}\n")
  }

  @Test func `revert returns to a version`() throws {
    try makeFile(keeping: Self.allKept)
    let before = try tarn("revert", "a.tarn", "1")
    #expect(before.output == "took back the commits after version 1, version 5\n")
    #expect(try dogs().contains("{\"id\":1,\"name\":\"Rex\",\"age\":3}\n{\"id\":2,"))
    #expect(try tarn("diff", "a.tarn@1", "a.tarn").status == 0)
    #expect(try tarn("undo", "a.tarn", "5").status == 0)
    #expect(try tarn("diff", "a.tarn@4", "a.tarn").status == 0)
  }

  @Test func `versions are compared`() throws {
    try makeFile(keeping: Self.allKept)
    let result = try tarn("diff", "a.tarn@1", "a.tarn@3")
    #expect(result.status == 1)
    #expect(
      result.output == """
        ~ Dog 1  {"age":3} → {"age":4}
        - Dog 2  {"id":2,"name":"Ann","age":9}

        """)
    #expect(try tarn("diff", "a.tarn@3", "a.tarn").output == "~ Dog 1  {\"age\":4} → {\"age\":5}\n")
    #expect(try tarn("diff", "a.tarn@4", "a.tarn").status == 0)
    // A file with such a name is meant itself.
    try FileManager.default.copyItem(
      atPath: folder.file("a.tarn"), toPath: folder.file("a.tarn@1"))
    #expect(try tarn("diff", "a.tarn@1", "a.tarn").status == 0)
  }

  @Test(arguments: [
    (["--none"], "the change records after version"),
    ([], "The old values of class 'Dog' were not kept"),
  ])
  func `what is not known is said with the way to keep it`(
    _ options: [String], _ reason: String
  ) throws {
    try makeFile(keeping: options.isEmpty ? ["--versions", "100"] : Self.allKept)
    if !options.isEmpty {
      let removed = try ToolProcess(folder, ["retention", "set", "a.tarn"] + options).finish()
      #expect(removed.status == 0, "\(removed.errors)")
    }
    let hint = "kept by 'tarn retention set a.tarn --age 7d --old-values'"
    for arguments in [
      ["undo", "a.tarn", "3"], ["revert", "a.tarn", "2"], ["diff", "a.tarn@2", "a.tarn"],
    ] {
      let result = try ToolProcess(folder, arguments).finish()
      #expect(result.status == 1)
      let errors = result.errors.lowercased()
      #expect(errors.contains(reason.lowercased()), "\(result.errors)")
      #expect(result.errors.contains(hint), "\(result.errors)")
    }
  }

  @Test func `versions that do not exist are refused`() throws {
    try makeFile(keeping: Self.allKept)
    #expect(try tarn("undo", "a.tarn", "9").errors.contains("has no version 9 to take back"))
    #expect(try tarn("undo", "a.tarn", "0").errors.contains("has no version 0 to take back"))
    #expect(try tarn("undo", "a.tarn", "last").status == 2)
    #expect(try tarn("diff", "a.tarn@9", "a.tarn").errors.contains("a.tarn has no version 9"))
    #expect(try tarn("alter", "a.tarn", "Dog", "--add", "size:int").status == 0)
    let migrated = "tarn: a.tarn: a migration came after version 3, so its objects cannot be read\n"
    #expect(try tarn("diff", "a.tarn@3", "a.tarn").errors == migrated)
    let undo = try tarn("undo", "a.tarn", "3")
    #expect(undo.errors.contains("migration"))
    #expect(!undo.errors.contains("retention"))
  }

  /// Each version of random objects of every type is read as it was.
  @Test(arguments: Seeds.of([1, 2, 3]))
  func `former versions have every type of value`(_ seed: UInt64) throws {
    var options = Store.Options()
    options.isDurable = false
    options.classes = EveryType.classes
    let store = try StoreRegistry.open(folder.file("a.tarn"), options)
    #expect(
      try ToolProcess(folder, ["retention", "set", "a.tarn"] + Self.allKept).finish().status == 0)
    var copies: [String] = []
    for round in 0..<3 {
      try store.write { session in
        var every = try EveryType(seed: seed &* 7 &+ UInt64(round), session)
        for id in round * 3..<round * 3 + 4 {
          if try session.find(
            primaryKey: .int(Int64(id)), in: session.schema.schema.named("Thing")!.id) == nil
          {
            try every.add("Thing", id: id)
          } else {
            try every.change("Thing", id: id)
          }
        }
        let thing = session.schema.schema.named("Thing")!.id
        if round > 0 { try session.delete(ObjectKey(Int64(round)), in: thing) }
      }
      copies.append(try tarn("dump", "a.tarn").output)
    }
    let newest = try store.newestSnapshot().version.rawValue
    for (place, copy) in copies.enumerated() {
      let version = newest - UInt64(copies.count - 1 - place)
      #expect(try tarn("load", "copy\(place)", "-", input: copy).status == 0)
      let result = try tarn("diff", "copy\(place)", "a.tarn@\(version)")
      #expect(result == .init(status: 0, output: "", errors: ""))
    }
  }
}
