import Foundation
import Testing

@testable import Tarn

/// What a program is told that asks for positions which are not there. The standard library would
/// say nothing of it in an optimized build.
struct BoundsTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  /// A use of a chest with three numbers, a coin and a tag, in an open write.
  private static func row(
    _ name: String, _ message: String, _ use: @escaping @Sendable (Chest) throws -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in
      let chest = try shelter.openWithChest(returnsObjects: true)
      chest.realm!.beginWrite()
      chest.coins.append(Coin(1))
      chest.tags.insert("a")
      try use(chest)
    }
  }

  static let traps: [TrapCase] = [
    row(
      "a negative index of a list",
      "Index -1 is out of bounds (must be less than 3) of the list 'Chest.numbers'"
    ) { print($0.numbers[-1]) },
    row(
      "an index beyond a slice",
      "Index 2 is out of bounds (must be less than 2) of the list 'Chest.numbers'"
    ) { print($0.numbers[0..<2][2]) },
    row("a slice beyond a slice", "Range 0..<3 is out of bounds (must be within 1..<3)") {
      print($0.numbers[1..<3][0..<3])
    },
    row("an index before a slice", "Index 0 is out of bounds (must be from 1 to less than 3)") {
      print($0.numbers[1..<3][0])
    },
    row("a range from beyond the end", "Range 4..<3 is out of bounds (must be within 0..<3)") {
      print($0.numbers[4...])
    },
    row("a range through the end", "Range 0..<4 is out of bounds (must be within 0..<3)") {
      print($0.numbers[...3])
    },
    row("a range up to a negative index", "Range 0..<-1 is out of bounds (must be within 0..<3)") {
      print($0.numbers[..<(-1)])
    },
    row("a closed range up to the largest number", "Range 1..<9223372036854775807 is out of bounds")
    { print($0.numbers[1...Int.max]) },
    row(
      "assigning to a range through the end", "Range 2..<4 is out of bounds (must be within 0..<3)"
    ) { chest in
      let list = chest.numbers
      list[2...3] = list[0...1]
    },
    row(
      "an index beyond a slice of results",
      "Index 1 is out of bounds (must be less than 1) of Results<Chest>"
    ) { print($0.realm!.objects(Chest.self)[0...0][1]) },
    row(
      "a range from beyond the end of results",
      "Range 2..<1 is out of bounds (must be within 0..<1) of Results<Chest>"
    ) { print($0.realm!.objects(Chest.self)[2...]) },
    row(
      "the index after the end of results",
      "Index 1 is out of bounds (must be less than 1) of Results<Chest>"
    ) { print($0.realm!.objects(Chest.self).index(after: 1)) },
    row(
      "an index beyond a set",
      "Index 5 is out of bounds (must be less than 1) of the set 'Chest.tags'"
    ) { print($0.tags[5]) },
    row(
      "a range beyond a set",
      "Range 0..<2 is out of bounds (must be within 0..<1) of the set 'Chest.tags'"
    ) { print($0.tags[0...1]) },
    row("removing at a negative index", "Index -1 is out of bounds (must be less than 3)") {
      $0.numbers.remove(at: -1)
    },
    row(
      "removing the last of no elements", "Cannot remove 1 of 0 elements of the list 'Chest.inner'"
    ) { $0.inner.removeLast() },
    row(
      "removing more elements than there are",
      "Cannot remove 4 of 3 elements of the list 'Chest.numbers'"
    ) { $0.numbers.removeFirst(4) },
    row("moving to beyond the end", "Index 3 is out of bounds (must be less than 3)") {
      $0.numbers.move(from: 0, to: 3)
    },
    row("swapping with beyond the end", "Index 3 is out of bounds (must be less than 3)") {
      $0.numbers.swapAt(3, 0)
    },
    row(
      "replacing a range from beyond the end", "Range 4..<3 is out of bounds (must be within 0..<3)"
    ) { $0.numbers.replaceSubrange(4..., with: [1]) },
    row("removing a range through the end", "Range 0..<4 is out of bounds (must be within 0..<3)") {
      $0.numbers.removeSubrange(...3)
    },
    row(
      "inserting beyond the end",
      "Index 4 is out of bounds (must be 3 or less) of the list 'Chest.numbers'"
    ) { $0.numbers.insert(1, at: 4) },
    row("removing at offsets beyond the end", "Index 7 is out of bounds (must be less than 3)") {
      $0.numbers.remove(atOffsets: [0, 7])
    },
    row(
      "an index beyond an unmanaged list",
      "Index 0 is out of bounds (must be less than 0) of an unmanaged List<Int>"
    ) { _ in print(List<Int>()[0]) },
    row("an index beyond a type-erased list", "Index 3 is out of bounds (must be less than 3)") {
      print(AnyRealmCollection($0.numbers)[3])
    },
    row(
      "an index beyond a projected list",
      "Index 1 is out of bounds (must be less than 1) of the list 'Chest.coins'"
    ) { print($0.coins.projectTo.value[1]) },
    row("a range beyond a projected list", "Range 0..<2 is out of bounds (must be within 0..<1)") {
      print($0.coins.projectTo.value[0...1])
    },
    row(
      "an index beyond backlinks", "objects link to an object of class 'Coin' through 'Chest.coins'"
    ) { print($0.coins[0].chests[1]) },
    row(
      "a range beyond backlinks",
      "Range 0..<2 is out of bounds (must be within 0..<1) of LinkingObjects"
    ) { print($0.coins[0].chests[0..<2]) },
    row(
      "backlinks of an unmanaged object",
      "nothing links to an unmanaged object through 'Chest.coins'. Add the object"
    ) { _ in print(Coin(1).chests[0]) },
    row(
      "an index beyond the sections",
      "Index 1 is out of bounds (must be less than 1) of SectionedResults<Int, Coin>"
    ) { print($0.coins.sectioned(by: \.value)[1]) },
    row(
      "an index beyond a section",
      "Index 1 is out of bounds (must be less than 1) of ResultsSection<Int, Coin>"
    ) { print($0.coins.sectioned(by: \.value)[0][1]) },
    row(
      "an index path beyond a section",
      "Index 2 is out of bounds (must be less than 1) of ResultsSection<Int, Coin>"
    ) { print($0.coins.sectioned(by: \.value)[IndexPath(item: 2, section: 0)]) },
    row(
      "a range beyond a section",
      "Range 0..<2 is out of bounds (must be within 0..<1) of ResultsSection"
    ) { print($0.coins.sectioned(by: \.value)[0][0...1]) },
    row(
      "an index beyond sorted values",
      "Index 3 is out of bounds (must be less than 3) of Results<Int>"
    ) { print($0.numbers.sorted(ascending: true)[3]) },
    row(
      "backlinks of an object whose addition was cancelled",
      "nothing links to an unmanaged object through 'Chest.coins'. Add the object"
    ) { chest in
      let realm = chest.realm!
      let coin = Coin(2)
      realm.add(coin)
      realm.cancelWrite()
      precondition(coin.realm == nil)
      print(coin.chests[0])
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String, name] in
      try await BoundsTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }

  @Test func rangesOfAllKindsWithinTheBounds() throws {
    let treasury = try Treasury(.realm)
    let list = treasury.chest.numbers
    list.append(objectsIn: 0..<6)
    #expect(Array(list[2...]) == [2, 3, 4, 5])
    #expect(Array(list[...1]) == [0, 1])
    #expect(Array(list[..<2]) == [0, 1])
    #expect(Array(list[1...2]) == [1, 2])
    #expect(list[6...].isEmpty)
    #expect(Array(list[1..<4][2...]) == [2, 3])
    #expect(list[1..<4].first == 1)
    list[4...] = list[0...1]
    #expect(list == [0, 1, 2, 3, 0, 1])
    list.replaceSubrange(...1, with: [9])
    list.removeSubrange(3...)
    #expect(list == [9, 2, 3])
    let chests = treasury.chest.realm!.objects(Chest.self)
    try #require(chests[0...].count == 1)
    #expect(chests[..<0].isEmpty)
    #expect(chests.dropFirst().first == nil)
  }
}
