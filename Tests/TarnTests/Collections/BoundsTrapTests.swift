import Foundation
import Testing

@testable import Tarn

/// What a program is told that asks for positions which are not there. The standard library would
/// say nothing of it in an optimized build.
struct BoundsTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  enum Mistake: String, CaseIterable, Codable {
    case listIndex, listSlice, sliceOfSlice, sliceBefore, rangeFrom, rangeThrough, rangeUpToNegative
    case closedToTheEnd, setThroughRange, resultsSlice, resultsRange, resultsIndexAfter, setIndex
    case setSlice, removeNegative, removeLastOfEmpty, removeFirstOfMany, move, swap, replaceFrom
    case removeThrough, insert, offsets, unmanagedIndex, erased, projected, projectedSlice
    case backlinks, backlinkSlice, unmanagedBacklinks, givenBack, sections, section, indexPath
    case sectionSlice, values

    /// What the message says.
    var message: String {
      switch self {
      case .listIndex: "Index -1 is out of bounds (must be less than 3) of the list 'Chest.numbers'"
      case .listSlice: "Index 2 is out of bounds (must be less than 2) of the list 'Chest.numbers'"
      case .sliceOfSlice: "Range 0..<3 is out of bounds (must be within 1..<3)"
      case .sliceBefore: "Index 0 is out of bounds (must be from 1 to less than 3)"
      case .rangeFrom, .replaceFrom: "Range 4..<3 is out of bounds (must be within 0..<3)"
      case .rangeThrough, .removeThrough: "Range 0..<4 is out of bounds (must be within 0..<3)"
      case .rangeUpToNegative: "Range 0..<-1 is out of bounds (must be within 0..<3)"
      case .closedToTheEnd: "Range 1..<9223372036854775807 is out of bounds"
      case .setThroughRange: "Range 2..<4 is out of bounds (must be within 0..<3)"
      case .resultsSlice: "Index 1 is out of bounds (must be less than 1) of Results<Chest>"
      case .resultsRange: "Range 2..<1 is out of bounds (must be within 0..<1) of Results<Chest>"
      case .resultsIndexAfter: "Index 1 is out of bounds (must be less than 1) of Results<Chest>"
      case .setIndex: "Index 5 is out of bounds (must be less than 1) of the set 'Chest.tags'"
      case .setSlice: "Range 0..<2 is out of bounds (must be within 0..<1) of the set 'Chest.tags'"
      case .removeNegative: "Index -1 is out of bounds (must be less than 3)"
      case .removeLastOfEmpty: "Cannot remove 1 of 0 elements of the list 'Chest.inner'"
      case .removeFirstOfMany: "Cannot remove 4 of 3 elements of the list 'Chest.numbers'"
      case .move, .swap: "Index 3 is out of bounds (must be less than 3)"
      case .insert: "Index 4 is out of bounds (must be 3 or less) of the list 'Chest.numbers'"
      case .offsets: "Index 7 is out of bounds (must be less than 3)"
      case .unmanagedIndex:
        "Index 0 is out of bounds (must be less than 0) of an unmanaged List<Int>"
      case .erased: "Index 3 is out of bounds (must be less than 3)"
      case .projected: "Index 1 is out of bounds (must be less than 1) of the list 'Chest.coins'"
      case .projectedSlice: "Range 0..<2 is out of bounds (must be within 0..<1)"
      case .backlinks: "objects link to an object of class 'Coin' through 'Chest.coins'"
      case .backlinkSlice: "Range 0..<2 is out of bounds (must be within 0..<1) of LinkingObjects"
      case .unmanagedBacklinks, .givenBack:
        "nothing links to an unmanaged object through 'Chest.coins'. Add the object"
      case .sections:
        "Index 1 is out of bounds (must be less than 1) of SectionedResults<Int, Coin>"
      case .section: "Index 1 is out of bounds (must be less than 1) of ResultsSection<Int, Coin>"
      case .indexPath: "Index 2 is out of bounds (must be less than 1) of ResultsSection<Int, Coin>"
      case .sectionSlice: "Range 0..<2 is out of bounds (must be within 0..<1) of ResultsSection"
      case .values: "Index 3 is out of bounds (must be less than 3) of Results<Int>"
      }
    }

    func make(_ chest: Chest) throws {
      let realm = chest.realm!
      realm.beginWrite()
      chest.coins.append(Coin(1))
      chest.tags.insert("a")
      read(chest, realm.objects(Chest.self))
      readOthers(chest)
      write(chest)
      if self == .givenBack {
        let coin = Coin(2)
        realm.add(coin)
        realm.cancelWrite()
        precondition(coin.realm == nil)
        print(coin.chests[0])
      }
      exit(0)
    }

    private func read(_ chest: Chest, _ chests: Results<Chest>) {
      let list = chest.numbers
      switch self {
      case .listIndex: print(list[-1])
      case .listSlice: print(list[0..<2][2])
      case .sliceOfSlice: print(list[1..<3][0..<3])
      case .sliceBefore: print(list[1..<3][0])
      case .rangeFrom: print(list[4...])
      case .rangeThrough: print(list[...3])
      case .rangeUpToNegative: print(list[..<(-1)])
      case .closedToTheEnd: print(list[1...Int.max])
      case .resultsSlice: print(chests[0...0][1])
      case .resultsRange: print(chests[2...])
      case .resultsIndexAfter: print(chests.index(after: 1))
      case .setIndex: print(chest.tags[5])
      case .setSlice: print(chest.tags[0...1])
      case .unmanagedIndex: print(List<Int>()[0])
      case .erased: print(AnyRealmCollection(list)[3])
      case .values: print(list.sorted(ascending: true)[3])
      default: break
      }
    }

    private func readOthers(_ chest: Chest) {
      let sections = chest.coins.sectioned(by: \.value)
      switch self {
      case .projected: print(chest.coins.projectTo.value[1])
      case .projectedSlice: print(chest.coins.projectTo.value[0...1])
      case .backlinks: print(chest.coins[0].chests[1])
      case .backlinkSlice: print(chest.coins[0].chests[0..<2])
      case .unmanagedBacklinks: print(Coin(1).chests[0])
      case .sections: print(sections[1])
      case .section: print(sections[0][1])
      case .indexPath: print(sections[IndexPath(item: 2, section: 0)])
      case .sectionSlice: print(sections[0][0...1])
      default: break
      }
    }

    private func write(_ chest: Chest) {
      let list = chest.numbers
      switch self {
      case .setThroughRange: list[2...3] = list[0...1]
      case .removeNegative: list.remove(at: -1)
      case .removeLastOfEmpty: chest.inner.removeLast()
      case .removeFirstOfMany: list.removeFirst(4)
      case .move: list.move(from: 0, to: 3)
      case .swap: list.swapAt(3, 0)
      case .replaceFrom: list.replaceSubrange(4..., with: [1])
      case .removeThrough: list.removeSubrange(...3)
      case .insert: list.insert(1, at: 4)
      case .offsets: list.remove(atOffsets: [0, 7])
      default: break
      }
    }
  }

  @Test(arguments: Mistake.allCases)
  func traps(mistake: Mistake) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String, mistake = mistake as Mistake] in
      let shelter = try Shelter(within: folder)
      try mistake.make(shelter.openWithChest(returnsObjects: true))
    }
    try expect(mistake.message, in: result)
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
