import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Windows on results.
struct WindowTests {
  private let shelter: Shelter
  private let a: Instance
  private let b: Instance
  private var cats: Results<Cat> { a.cats.sorted(by: \.age) }

  /// Ten cats, of which those with a greater id are younger.
  init() throws {
    shelter = try Shelter()
    a = try shelter.open()
    b = try shelter.open()
    try a.write { for id in 0..<10 { a.realm.add(Cat(id, age: 90 - 10 * id)) } }
    b.pump()
    b.realm.refresh()
  }

  private func told(
    _ results: Results<Cat>, _ changes: (() throws -> Void)...
  ) throws -> [String] {
    let recorder = CatRecorder(results)
    a.pump()
    for change in changes {
      try b.write(change)
      a.pump()
    }
    #expect(recorder.problems == [])
    #expect(recorder.mirror == results.map(\.id))
    return Array(recorder.calls.dropFirst())
  }

  @Test func positionsOfTheWhole() {
    #expect(cats.window(2..<5).map(\.id) == [7, 6, 5])
    #expect(cats.window(2...4).map(\.id) == [7, 6, 5])
    #expect(cats.window(...1).map(\.id) == [9, 8])
    #expect(cats.window(8...).map(\.id) == [1, 0])
    #expect(cats.window(8..<100).map(\.id) == [1, 0])
    #expect(cats.window(10..<20).isEmpty)
    #expect(cats.window(3..<3).isEmpty)
    #expect(cats.window(8...Int.max).map(\.id) == [1, 0])
    #expect(cats.window(...Int.max).count == 10)
    #expect(cats.window(Int.max...Int.max).isEmpty)
    #expect(cats.limit(2).map(\.id) == [9, 8])
    #expect(cats.limit(0).isEmpty)
    #expect(cats.offset(7).map(\.id) == [2, 1, 0])
    #expect(cats.offset(11).isEmpty)
  }

  @Test func windowsOnWindows() {
    #expect(cats.offset(2).limit(3).map(\.id) == [7, 6, 5])
    #expect(cats.limit(5).offset(3).map(\.id) == [6, 5])
    #expect(cats.limit(5).offset(6).isEmpty)
    #expect(cats.limit(5).limit(8).count == 5)
    #expect(cats.window(2..<8).window(1..<3) == cats.window(3..<5))
    #expect(cats.window(2..<8).window(1...).window(1...) == cats.window(4..<8))
  }

  @Test func theWindowIsTakenLast() {
    let young = cats.limit(3).where { $0.age >= 50 }
    #expect(young.map(\.id) == [4, 3, 2])
    #expect(young == cats.where { $0.age >= 50 }.limit(3))
    #expect(a.cats.limit(3).sorted(by: \.age).map(\.id) == [9, 8, 7])
    #expect(a.cats.limit(1).distinct(by: ["name"]).count == 1)
  }

  @Test func isACollection() throws {
    let window = cats.window(2..<6)
    try #require(window.count == 4)
    #expect(window[0].id == 7)
    #expect(window[3].id == 4)
    #expect(window.first?.id == 7)
    #expect(window.last?.id == 4)
    #expect(a.cats.window(4..<6).count == 2)
    #expect(a.cats.offset(20).count == 0)
    #expect(a.cats.offset(20).first == nil)
    #expect(window.index(of: a.cat(5)!) == 2)
    #expect(window.index(of: a.cat(9)!) == nil)
    #expect(window.index(of: a.cat(0)!) == nil)
    #expect(window.index(matching: { $0.age > 30 }) == 2)
    #expect(window.min(of: \.age) == 20)
    #expect(window.max(of: \.age) == 50)
    #expect(window.sum(of: \.age) == 140)
    #expect(window.average(of: \.age) == 35.0)
    #expect(window.sum(ofProperty: "age") == 140)
    #expect(window.freeze().map(\.id) == [7, 6, 5, 4])
    #expect(window.objects(at: [1, 3]).map(\.id) == [6, 4])
    let reference = ThreadSafeReference(to: window)
    #expect(b.realm.resolve(reference)?.map(\.id) == [7, 6, 5, 4])
  }

  @Test func observersAreToldOfTheWindow() throws {
    let calls = try told(
      cats.window(2..<5),
      { b.cat(6)!.name = "inside" },
      { b.cat(9)!.name = "before" },
      { b.cat(1)!.name = "behind" },
      { b.cat(9)!.age = 45 },
      { b.realm.delete(b.cat(8)!) },
      { b.cat(0)!.age = 1 },
      { b.realm.add(Cat(70, age: 2)) },
      { b.cat(5)!.age = 3 },
      { b.realm.delete(b.cats.where { $0.age > 5 }) })
    #expect(
      calls == [
        "-[] +[] ~[1]",
        // Everything behind it moves up by one.
        "-[0] +[2] ~[]",
        "-[0] +[2] ~[]",
        "-[2] +[0] ~[]", "-[2] +[0] ~[]",
        // It comes from behind.
        "-[2] +[0] ~[]",
        "-[1, 2] +[] ~[]",
      ])
  }

  @Test func movesWithinAWindow() throws {
    var moves: [CollectionDelta<Cat>.Move] = []
    let token = cats.limit(4).observeChanges { change in
      if case .update(_, let delta) = change { moves += delta.moves }
    }
    a.pump()
    try b.write { b.cat(9)!.age = 25 }
    a.pump()
    #expect(moves.map(\.from) == [0])
    #expect(moves.map(\.to) == [2])
    token.invalidate()
  }

  @Test func insideAWrite() throws {
    let window = cats.limit(2)
    #expect(window.map(\.id) == [9, 8])
    a.realm.beginWrite()
    a.realm.add(Cat(50, age: -1))
    #expect(window.map(\.id) == [50, 9])
    a.realm.delete(window)
    #expect(window.map(\.id) == [8, 7])
    a.realm.cancelWrite()
    #expect(window.map(\.id) == [9, 8])
  }

  @Test func sections() throws {
    let sections = cats.limit(5).sectioned(by: { $0.age / 20 }, sortDescriptors: ["age"])
    #expect(sections.map { $0.map(\.id) } == [[9, 8], [7, 6], [5]])
    let token = sections.observe { _ in }
    a.pump()
    try b.write { b.realm.delete(b.cat(8)!) }
    a.pump()
    #expect(sections.map { $0.map(\.id) } == [[9], [7, 6], [5, 4]])
    token.invalidate()
  }

  @Test func explains() {
    let read = "\nread: from the beginning of the index on 'age' until 5 are found, and only those"
    #expect(cats.window(2..<5).explain().hasSuffix("in this order, positions 2 to 4" + read))
    #expect(cats.offset(2).explain().hasSuffix("in this order, positions 2 on"))
    #expect(cats.limit(0).explain().hasSuffix("show: none"))
  }
}

/// What is no window.
struct WindowTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  private static func row(
    _ name: String, _ message: String, _ use: @escaping @Sendable (Results<Cat>) -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in use(try shelter.open().cats) }
  }

  static let traps: [TrapCase] = [
    row("negative position", "A window must begin at position 0 or later, not at -1.") {
      print($0.window(-1..<4).count)
    },
    row("negative limit", "A limit must be 0 or more, not -2.") { print($0.limit(-2).count) },
    row("negative offset", "An offset must be 0 or more, not -3.") { print($0.offset(-3).count) },
    row("unmanaged", "Only collections which are managed by a Realm can be queried and sorted") {
      _ in print(List<Int>().limit(1).count)
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = try folder as String, name] in
      try await WindowTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
