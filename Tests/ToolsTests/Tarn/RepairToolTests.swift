import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// `tarn repair`.
@Suite struct RepairToolTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("a.tarn") }

  private func tarn(_ arguments: String...) throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments).finish()
  }

  /// Objects with links, lists and long texts, in several commits.
  private func makeStore(objects: Int = 400) throws {
    let people = (0..<objects).map { number in
      let text = number % 50 == 0 ? String(repeating: "long \(number) ", count: 900) : "short"
      return "{\"id\": \(number), \"name\": \"name \(number)\", \"text\": \"\(text)\", "
        + "\"friend\": \((number + 1) % objects), \"marks\": [1, 2, \(number)]}\n"
    }.joined()
    let made = try ToolProcess.run(
      folder, "import", "a.tarn", "-", "-c", "Person", "-k", "id", "-f", "jsonl", "-t",
      "friend:Person", input: people)
    #expect(made.status == 0, "\(made.errors)")
  }

  private func change(_ body: (inout [UInt8]) throws -> Void) throws {
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    try body(&bytes)
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  /// Where the values under keys with a tag lie in the file, in the newest version.
  private func values(_ tag: TreeKey.Tag) throws -> [Range<Int>] {
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    let transaction = try environment.beginRead()
    defer { transaction.end() }
    var cursor = try Cursor(transaction)
    let start = try environment.mapStart(of: environment.firstEngine)
    var values: [Range<Int>] = []
    while try cursor.next() {
      guard cursor.key[0] == tag.rawValue else { continue }
      let first = Int(UInt(bitPattern: cursor.value.baseAddress) - start)
      values.append(first..<first + cursor.value.count)
    }
    return values
  }

  /// The pages of these values.
  /// - Parameter length: of the shortest value that counts.
  private func pages(_ tag: TreeKey.Tag, from length: Int = 0) throws -> [Int] {
    Set(try values(tag).filter { $0.count >= length }.map { $0.lowerBound / 4096 }).sorted()
  }

  private func isSound(_ name: String) throws -> Bool {
    let check = try tarn("inspect", "--check", name)
    return check.status == 0 && check.output.contains("Sound")
  }

  @Test func `of a sound file everything is in the new one`() throws {
    try makeStore()
    let repaired = try tarn("repair", "a.tarn", "b.tarn")
    #expect(repaired.status == 0, "\(repaired)")
    #expect(repaired.output == "b.tarn: 400 objects\n")
    #expect(try tarn("dump", "b.tarn") == tarn("dump", "a.tarn"))
    #expect(try isSound("b.tarn"))
    #expect(try tarn("repair", "a.tarn", "b.tarn").errors.contains("there is a file already"))
  }

  @Test func `a lost page of objects is taken from the version before`() throws {
    try makeStore()
    // The next commit rewrites one cluster; the others are in both versions.
    #expect(try tarn("set", "a.tarn", "Person", "name=new", "--where", "id == 3").status == 0)
    let page = try #require(try pages(.cluster).last)
    try change { bytes in for offset in 0..<4096 { bytes[page * 4096 + offset] = 0xa5 } }
    #expect(try tarn("inspect", "a.tarn").status == 1)
    let repaired = try tarn("repair", "a.tarn", "b.tarn")
    #expect(repaired.status == 1)
    #expect(repaired.errors.contains("not everything"), "\(repaired)")
    #expect(try isSound("b.tarn"))
    // The page that the last commit wrote is in the newest version only.
    let count = try tarn("count", "b.tarn", "Person").output
    #expect(try #require(Int(count.dropLast())) >= 300)
    #expect(repaired.output.contains("as in the version before"), "\(repaired.output)")
    let taken = /- class Person: \d+ objects? with keys from \d+ to \d+ as in the version before\n/
    #expect(try taken.firstMatch(in: repaired.output) != nil, "\(repaired.output)")
  }

  @Test(arguments: [0, 1])
  func `with one header page it is the other version`(_ page: Int) throws {
    try makeStore(objects: 30)
    #expect(try tarn("set", "a.tarn", "Person", "name=new", "--all").status == 0)
    try change { bytes in for offset in 0..<4096 { bytes[page * 4096 + offset] = 0 } }
    let repaired = try tarn("repair", "a.tarn", "b.tarn")
    #expect(repaired.status == 1)
    #expect(repaired.output.contains("one of the first two pages is damaged"))
    #expect(try isSound("b.tarn"))
    let names = try tarn("query", "b.tarn", "Person", "id == 1", "--csv", "--columns", "name")
    #expect(["name\nnew\n", "name\nname 1\n"].contains(names.output))
  }

  /// Changes the first cluster, whose checksum is then right again.
  private func changeCluster(_ body: (inout [UInt8]) -> Void) throws {
    let place = try #require(try values(.cluster).first)
    try change { bytes in
      var cluster = Array(bytes[place])
      body(&cluster)
      let sum = Checksum.of(Array(cluster[ClusterFormat.checkedFrom...]))
      for index in 0..<4 { cluster[8 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
      bytes.replaceSubrange(place, with: cluster)
    }
  }

  @Test func `of two objects with one key one is left out, and listed`() throws {
    try makeStore((0..<6).map { "{\"id\": \($0)}" })
    // Keys that are not adjacent have a byte each.
    #expect(try tarn("delete", "a.tarn", "A", "--where", "id == 2").status == 0)
    try changeCluster { cluster in
      let keys = Int(cluster[14]) | Int(cluster[15]) << 8
      #expect(Array(cluster[keys..<keys + 5]) == [0, 1, 3, 4, 5])
      cluster[keys + 2] = 1
    }
    let repaired = try tarn("repair", "a.tarn", "b.tarn")
    #expect(repaired.status == 1)
    #expect(
      repaired.output.contains(
        "class A, object 1, was left out: there is another object with its key"), "\(repaired)")
    #expect(try tarn("count", "b.tarn", "A").output == "4\n")
    #expect(try isSound("b.tarn"))
  }

  @Test func `an object that its key does not lead to keeps the values of its row`() throws {
    try makeStore((0..<6).map { #"{"id":\#($0),"n":\#(10 + $0),"tags":["\#($0)"]}"# })
    #expect(try tarn("delete", "a.tarn", "A", "--where", "id == 2").status == 0)
    try changeCluster { cluster in
      let keys = Int(cluster[14]) | Int(cluster[15]) << 8
      #expect(Array(cluster[keys..<keys + 5]) == [0, 1, 3, 4, 5])
      cluster[keys] = 9
    }
    let repaired = try tarn("repair", "a.tarn", "b.tarn")
    #expect(repaired.status == 1)
    #expect(
      repaired.output.contains("class A, object 9, was in a wrong place; lost: tags"),
      "\(repaired)")
    #expect(
      try tarn("query", "b.tarn", "A", "--csv", "--columns", "id,n").output
        == "id,n\n1,11\n3,13\n4,14\n5,15\n9,10\n")
    #expect(try isSound("b.tarn"))
  }

  @Test func `an object whose primary key is lost is left out, and listed`() throws {
    try makeStore(["x", "y", "z"].map { #"{"id":"\#($0)"}"# })
    try changeCluster { cluster in
      // The texts of the first column end beyond the cluster.
      #expect(cluster[24] == 5)
      let ends = Int(cluster[26]) | Int(cluster[27]) << 8
      for row in 1...3 { cluster[ends + 2 * row + 1] = 0x7f }
    }
    let repaired = try tarn("repair", "a.tarn", "b.tarn")
    #expect(repaired.status == 1)
    #expect(
      repaired.output.contains("class A, object 2, was left out: its primary key is lost"),
      "\(repaired)")
    #expect(try tarn("count", "b.tarn", "A").output == "0\n")
    #expect(try isSound("b.tarn"))
  }

  @Test func `lost texts leave their objects, and are listed`() throws {
    try makeStore()
    // Its checksum is among other entries.
    let page = try #require(try pages(.longValue, from: 300).first)
    try change { bytes in for offset in 0..<4096 { bytes[page * 4096 + offset] = 0 } }
    let repaired = try tarn("repair", "a.tarn", "b.tarn")
    #expect(repaired.status == 1)
    #expect(repaired.output.contains(", text: lost"), "\(repaired.output)")
    #expect(try tarn("count", "b.tarn", "Person").output == "400\n")
    #expect(try isSound("b.tarn"))
  }

  /// Imports lines as a class `A` with the key `id`.
  private func makeStore(_ lines: [String], _ arguments: String...) throws {
    let made = try ToolProcess(
      folder, ["import", "a.tarn", "-", "-f", "jsonl", "-c", "A", "-k", "id"] + arguments,
      input: lines.joined(separator: "\n")
    ).finish()
    try #require(made.status == 0, "\(made.errors)")
  }

  @Test(arguments: [("list<int>", "[%]"), ("set<int>", "[%]"), ("any", "[%]")])
  func `a list with a wrong page is lost, and listed`(_ type: String, _ form: String) throws {
    let numbers = (0..<2_000).map { "\($0 * 7)" }.joined(separator: ",")
    let value = form.replacing("%", with: numbers)
    try makeStore([#"{"id":1,"tags":\#(value)}"#, #"{"id":2,"tags":[5]}"#], "-t", "tags:\(type)")
    // So long that it has a page of its own.
    let page = try #require(try pages(.sequencePage, from: 2_100).first)
    try change { bytes in bytes[page * 4096 + 1_000] ^= 8 }
    #expect(try tarn("inspect", "--check", "a.tarn").status == 1)
    let repaired = try tarn("repair", "a.tarn", "b.tarn")
    #expect(repaired.status == 1, "\(repaired)")
    #expect(repaired.output.contains("class A, object 1, tags: lost"), "\(repaired.output)")
    #expect(try isSound("b.tarn"))
    #expect(try tarn("query", "b.tarn", "A", "id == 2", "--json").output.contains("5"))
  }

  @Test func `a lost embedded object is no empty one`() throws {
    try makeStore(
      (1...300).map { #"{"id":\#($0),"home":{"city":"City\#($0)"},"past":[{"town":"x\#($0)"}]}"# })
    for text in ["City150", "x150"] {
      try change { bytes in
        let place = try #require(bytes.firstRange(of: Array(text.utf8)))
        bytes[place.lowerBound] ^= 1
      }
    }
    let repaired = try tarn("repair", "a.tarn", "b.tarn")
    #expect(repaired.status == 1)
    #expect(
      repaired.output.contains("class A, object 150, home: an embedded object is lost"),
      "\(repaired.output)")
    #expect(repaired.output.contains("past: an embedded object is lost"))
    #expect(repaired.output.contains("b.tarn: 300 objects"))
    #expect(try isSound("b.tarn"))
    #expect(try tarn("count", "b.tarn", "A", "id == 150 AND home == nil").output == "1\n")
    #expect(try tarn("count", "b.tarn", "A", "id == 150 AND past.@count == 0").output == "1\n")
  }

  @Test func `links to lost objects are removed, and outdated objects need --stale`() throws {
    try makeStore()
    // So that no header has the former clusters.
    for name in ["x", "y", "z"] {
      #expect(try tarn("set", "a.tarn", "Person", "name=\(name)", "--all").status == 0)
    }
    #expect(try tarn("delete", "a.tarn", "Person", "--where", "id == 399").status == 0)
    let lost = try pages(.cluster)
    try change { bytes in
      for page in lost { for offset in 0..<4096 { bytes[page * 4096 + offset] = 0 } }
    }
    let plain = try tarn("repair", "a.tarn", "b.tarn")
    #expect(plain.status == 1)
    #expect(plain.output.contains("--stale takes them"), "\(plain.output)")
    let stale = try tarn("repair", "a.tarn", "c.tarn", "--stale")
    #expect(stale.status == 1)
    #expect(stale.output.contains("they may be outdated"), "\(stale.output)")
    for name in ["b.tarn", "c.tarn"] { #expect(try isSound(name), "\(name)") }
  }

  @Test func `what is no store, is open or has no header gives nothing`() throws {
    _ = try folder.file("notes", Array(repeating: 0x61, count: 9_000))
    let notes = try tarn("repair", "notes", "b.tarn")
    #expect(notes.errors.contains("neither of its first two pages is the header of a store"))
    try makeStore(objects: 3)
    let watch = try ToolProcess(folder, ["watch", "a.tarn", "Person", "--json"])
    #expect(try watch.line() != nil)
    let open = try tarn("repair", "a.tarn", "b.tarn")
    #expect(open.errors.contains("process \(watch.processID) (tarn)"), "\(open.errors)")
    watch.signal(SIGTERM)
    _ = try watch.finish()
    try change { bytes in for offset in 0..<8192 { bytes[offset] = 0 } }
    #expect(try tarn("repair", "a.tarn", "b.tarn").status == 1)
    #expect(!folder.names.contains { $0.hasPrefix("b.tarn") })
  }

  @Test(arguments: [0, 1])
  func `a header page in the place of the other is damage`(_ page: Int) throws {
    try makeStore()
    try change { bytes in
      let other = Array(bytes[(1 - page) * 4096..<(2 - page) * 4096])
      bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: other)
    }
    let words = "page \(page) is page \(1 - page), which was written to the wrong place"
    let check = try tarn("inspect", "--check", "a.tarn")
    #expect(check.status == 1)
    #expect(check.errors.contains(words), "\(check)")
    #expect(try tarn("query", "a.tarn", "Person").errors.contains(words))
    let repaired = try tarn("repair", "a.tarn", "b.tarn")
    #expect(repaired.status == 1)
    #expect(repaired.output.contains("one of the first two pages is damaged"), "\(repaired)")
    #expect(try isSound("b.tarn"))
  }
}
