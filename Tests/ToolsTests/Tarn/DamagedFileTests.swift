import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// What the commands say about a file that is damaged.
@Suite struct DamagedFileTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("x.realm") }

  private func makeStore(objects: Int = 300) throws {
    let lines = (0..<objects).map { "{\"id\": \($0), \"name\": \"name \($0)\"}\n" }.joined()
    let input = try folder.file("crates.jsonl", Array(lines.utf8))
    let made = try ToolProcess.run(folder, "import", path, input, "-c", "Crate", "-k", "id")
    #expect(made.status == 0, "\(made.errors)")
  }

  private func change(_ body: (inout [UInt8]) -> Void) throws {
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    body(&bytes)
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  private static let commands = [
    ["inspect", "FILE"], ["inspect", "--check", "FILE"], ["export", "FILE", "Crate"],
    ["watch", "FILE"], ["watch", "FILE", "Crate"], ["set", "FILE", "Crate", "name=x", "--all"],
    ["delete", "FILE", "Crate", "--all"], ["import", "FILE", "crates.jsonl", "-c", "Crate"],
  ]

  @Test(arguments: commands)
  func `every command names a page that is none`(_ command: [String]) throws {
    try makeStore()
    // The root of the tree, as the newer header says.
    try change { bytes in
      let header = bytes[144..<152].lexicographicallyPrecedes(bytes[4240..<4248]) ? 4096 : 0
      let root = Int(bytes[header + 128]) | Int(bytes[header + 129]) << 8
      for offset in 0..<4096 { bytes[root * 4096 + offset] = UInt8(offset & 0xff) }
    }
    let arguments = command.map { $0 == "FILE" ? path : $0 }
    let result = try ToolProcess(folder, arguments).finish()
    #expect(result.status == 1)
    #expect(result.errors.hasPrefix("tarn: "))
    #expect(result.errors.contains("page"))
    #expect(result.errors.contains("is marked as page"))
  }

  // MARK: - Damaged objects

  /// Changes the bytes of all clusters of the class, which a check of pages does not see.
  private func changeClusters(_ body: @escaping @Sendable (inout [UInt8]) -> Void) throws {
    let store = try StoreRegistry.open(path, Store.Options())
    try store.environment.write { transaction throws(StorageError) in
      var found: [([UInt8], [UInt8])] = []
      do {
        var cursor = try Cursor(transaction)
        while try cursor.next() {
          if TreeKey.tag(of: cursor.key) != .cluster { continue }
          found.append((Array(cursor.key), Array(cursor.value)))
        }
      }
      for (key, value) in found {
        var changed = value
        body(&changed)
        try withBytes(of: key) { key throws(StorageError) in
          try withBytes(of: changed) { value throws(StorageError) in
            try transaction.put(value, forKey: key)
          }
        }
      }
    }
  }

  private static let changing = [
    ["watch", "FILE", "--cursor", "new"], ["watch", "FILE", "--cursor", "new", "--json"],
    ["watch", "FILE", "--cursor", "old"], ["watch", "FILE", "--cursor", "old", "--json"],
    ["watch", "FILE", "Crate", "--cursor", "new", "--where", "name != 'x'", "--json"],
    ["watch", "FILE", "Crate", "--cursor", "kept", "--where", "name != 'x'"],
    ["log", "FILE", "--patch"], ["log", "FILE", "--patch", "--json"],
  ]

  @Test func `commands that print changes report a damaged object`() throws {
    try makeStore(objects: 3)
    let begin: [[String]] = [
      ["watch", path, "--cursor", "old", "--exit-after", "1"],
      ["watch", path, "Crate", "--cursor", "kept", "--where", "name != 'x'", "--exit-after", "1"],
      ["set", path, "Crate", "name=new", "--all"],
    ]
    for command in begin {
      let done = try ToolProcess(folder, command).finish()
      #expect(done.status == 0, "\(command): \(done.errors)")
    }
    let sound = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let damages: [@Sendable (inout [UInt8]) -> Void] = [
      { $0[0] = 9 },
      { cluster in for index in 24..<cluster.count { cluster[index] = 0xff } },
      // The strings leave the cluster.
      { cluster in for index in 40..<cluster.count - 16 { cluster[index] = 0xff } },
    ]
    for (number, damage) in damages.enumerated() {
      try Data(sound).write(to: URL(fileURLWithPath: path))
      try changeClusters(damage)
      for command in Self.changing {
        let limit = command[0] == "log" ? "--limit" : "--exit-after"
        let arguments = command.map { $0 == "FILE" ? path : $0 } + [limit, "1"]
        let result = try ToolProcess(folder, arguments).finish()
        #expect(result.status == 1, "\(number) \(command): \(result)")
        #expect(result.errors.hasPrefix("tarn: "), "\(number) \(command): \(result.errors)")
        #expect(!result.errors.contains("SIG"), "\(number) \(command): \(result.errors)")
      }
    }
  }

  // MARK: - Empty files

  @Test(
    arguments: commands.dropLast() + [["query", "FILE", "Crate"], ["count", "FILE", "Crate"]])
  func `an empty file is no store to a command that asks for one`(_ command: [String]) throws {
    let path = try folder.file("x.realm", [])
    let arguments = command.map { $0 == "FILE" ? path : $0 }
    let result = try ToolProcess(folder, arguments).finish()
    #expect(result.status == 1)
    #expect(result.errors == "tarn: \(path): the file is empty\n")
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty)
  }

  @Test func `an import takes an empty file for a new store`() throws {
    let path = try folder.file("x.realm", [])
    let bad = try folder.file("bad.jsonl", Array("{\"id\": 1}\n{\"id\"".utf8))
    let refused = try ToolProcess.run(folder, "import", path, bad, "-c", "Crate", "-k", "id")
    #expect(refused.status == 1)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty)
    try makeStore(objects: 3)
    let counted = try ToolProcess.run(folder, "count", path, "Crate")
    #expect(counted.output == "3\n")
  }

  // MARK: - One thing twice

  /// On each of forty levels one thing twice: all of it would take for ever.
  private func makeTwins(areEmbedded: Bool) throws {
    var options = Store.Options()
    options.isDurable = false
    let links = ["left", "right"].map {
      ClassDefinition.Property(name: $0, type: .link, isOptional: true, target: "Inner")
    }
    options.classes = [
      ClassDefinition(name: "Twin", properties: links + [.init(name: "any", type: .any)]),
      ClassDefinition(name: "Inner", properties: links, isEmbedded: true),
    ]
    let store = try StoreRegistry.open(path, options)
    let (twins, inner) = (ClassID(0), ClassID(1))
    if areEmbedded {
      return try store.write { session in
        var twice: [ColumnID: Value] = [:]
        for level in 0...40 {
          let next = try session.create(twice, in: level < 40 ? inner : twins)
          twice = [ColumnID(0): .link(next), ColumnID(1): .link(next)]
        }
      }
    }
    let lists = try store.write { session in
      var lists: [CollectionID] = []
      let key = try session.create([:], in: twins)
      var place = SequencePlace(classID: twins, key: key, column: ColumnID(2))
      for level in 0...40 {
        let next = try session.makeNested(.list, in: place)
        if level == 0 {
          try session.set(ColumnID(2), at: key, in: twins, to: .list(next))
        } else {
          try session.insert(.list(next), at: 0, in: place)
        }
        place = place.nested(next)
        lists.append(next)
      }
      return lists
    }
    for (list, next) in zip(lists, lists.dropFirst()) {
      let twice = SequenceElements(keys: [], values: [.value(.list(next)), .value(.list(next))])
      let cell = try #require(CollectionCell.encode(twice, limit: 1_000))
      let record = NestedRecord.encode(.list, cell)
      try store.environment.write { transaction throws(StorageError) in
        try TreeKey.nested(list).withBytes { name throws(StorageError) in
          try withBytes(of: record) { bytes throws(StorageError) in
            try transaction.put(bytes, forKey: name)
          }
        }
      }
    }
  }

  @Test(arguments: [true, false])
  func `one thing twice on each level ends with an error`(_ areEmbedded: Bool) throws {
    try makeTwins(areEmbedded: areEmbedded)
    for command in [["export", path, "Twin"], ["watch", path], ["query", path, "Twin"]] {
      let result = try ToolProcess(folder, command).finish()
      #expect(result.status == 1)
      #expect(result.errors.contains("twice"), "\(command[0]): \(result.errors)")
    }
    let check = try ToolProcess.run(folder, "inspect", "--check", path)
    #expect(check.status == 1)
    #expect(check.output.contains(areEmbedded ? "incoming links" : "shares a collection"))
  }

  /// What the system ends a command for is told in words.
  @Test(arguments: [(SIGBUS, "SIGBUS"), (SIGSEGV, "SIGSEGV"), (SIGABRT, "SIGABRT")])
  func `a command that is ended says what it worked on`(_ signal: Int32, _ name: String) throws {
    try makeStore(objects: 3)
    let watch = try ToolProcess(folder, ["watch", path, "--json"])
    #expect(try watch.line() != nil)
    watch.signal(signal)
    let result = try watch.finish()
    #expect(result.status == 1)
    #expect(result.errors.hasPrefix("tarn: watch was killed by \(name) while working on \(path)"))
    #expect(result.errors.contains("are sound"))
  }

  @Test func `a command that is ended names the damage of its file`() throws {
    try makeStore()
    let watch = try ToolProcess(folder, ["watch", path, "--json"])
    #expect(try watch.line() != nil)
    // In its place, so that the command has it.
    let file = try #require(FileHandle(forUpdatingAtPath: path))
    try file.seek(toOffset: 2 * 4096)
    try file.write(contentsOf: Data(repeating: 0xa5, count: 6 * 4096))
    watch.signal(SIGBUS)
    let result = try watch.finish()
    #expect(result.status == 1)
    #expect(result.errors.contains("tarn: \(path) is damaged: page"))
  }

  /// A row beyond the boundary of the next cluster is where nobody looks for it.
  @Test func `rows in the wrong cluster are found by the check`() throws {
    try makeStore(objects: 3000)
    do {
      let store = try StoreRegistry.open(path, Store.Options())
      try store.environment.write { transaction throws(StorageError) in
        let start = TreeKey.cluster(ClassID(0), first: ObjectKey(0))
        var boundary: ObjectKey?
        var bytes: [UInt8] = []
        do {
          var cursor = try Cursor(transaction)
          _ = try start.withBytes { key throws(StorageError) in
            try cursor.seek(atOrAfter: key)
          }
          boundary = TreeKey.parseCluster(cursor.key)?.first
          bytes = Array(cursor.value)
        }
        guard let boundary else { return }
        _ = try TreeKey.cluster(ClassID(0), first: boundary).withBytes {
          key throws(StorageError) in try transaction.delete(key)
        }
        let earlier = TreeKey.cluster(ClassID(0), first: ObjectKey(boundary.rawValue - 1))
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        try earlier.withBytes { key throws(StorageError) in
          try transaction.put(UnsafeRawBufferPointer(copy), forKey: key)
        }
      }
    }
    let result = try ToolProcess.run(folder, "inspect", "--check", path)
    #expect(result.status == 1)
    #expect(result.output.contains("rows are outside its range"), "\(result.output)")
  }
}
