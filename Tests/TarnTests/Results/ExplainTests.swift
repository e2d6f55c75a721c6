import TestSupport
import Testing

@testable import Tarn

/// What results say of the way in which they are found, and that the way is taken.
@Suite struct ExplainTests {
  private let archive: Archive

  init() throws { archive = try Archive(Shelter(), seed: 9, count: 3000) }

  private func allLines(_ results: Results<Record>) -> [String] {
    results.explain().split(separator: "\n").map(String.init)
  }

  private func lines(_ results: Results<Record>) -> [String] {
    allLines(results).filter { !$0.hasPrefix("route: ") }
  }

  private func route(_ results: Results<Record>) -> String? {
    allLines(results).first { $0.hasPrefix("route: ") }
  }

  private let kept = "keep: each commit changes the rows that it touches"

  @Test func `the primary key leads to an object`() throws {
    let one = archive.records.where { $0.id == 7 }
    #expect(
      lines(one) == [
        "find: the primary key 'id': at most 1 of 3000 objects", "test: none needed",
        kept,
      ])
    try #require(one.count == 1)
    try #require(one.first?.id == 7)
    #expect(one[0].id == 7)
    #expect(archive.records.where { $0.id == 7000 }.isEmpty)
  }

  @Test func `an index leads to few objects, and a scan to many`() throws {
    try archive.instance.write { archive.record(11).number = 777 }
    let one = archive.records.where { $0.number == 777 && !$0.flag || $0.number == 778 }
    #expect(lines(one)[0].hasPrefix("find: the index on 'number': at most "))
    #expect(lines(one)[1] == "test: the whole condition")
    let many = archive.records.where { $0.number < 700 }
    #expect(
      lines(many)[0]
        == "find: scan of all 3000 objects: a scan is quicker than the index on 'number'")
    let none = archive.records.where { $0.text.contains("a") }
    #expect(
      lines(none)[0]
        == "find: scan of all 3000 objects: no index fits the condition")
    #expect(lines(archive.records)[0] == "find: scan of all 3000 objects: there is no condition")
    let never = archive.records.where { $0.id < 1 && $0.id > 1 }
    #expect(lines(never)[0] == "find: the primary key 'id': at most 0 of 3000 objects")
  }

  @Test func `links lead to what links to an object`() throws {
    try archive.instance.write {
      for record in archive.records { record.next = nil }
      archive.record(12).next = archive.record(13)
      archive.record(14).friends.append(archive.record(15))
    }
    let target = archive.record(13)
    let linking = archive.records.where { $0.next == target }
    #expect(lines(linking)[0].hasPrefix("find: the links of 'next': at most 1 of"))
    #expect(linking.map(\.id) == [12])
    let friend = archive.record(15)
    let containing = archive.records.where { $0.friends.contains(friend) }
    #expect(lines(containing)[0].hasPrefix("find: the links of 'friends': at most 1 of"))
    #expect(containing.map(\.id) == [14])
  }

  @Test func `an order that an index has needs no sort, and its ends no other rows`() throws {
    let (ascending, descending) = (
      archive.records.sorted(by: \.number),
      archive.records.sorted(by: \.number, ascending: false)
    )
    for results in [ascending, descending] {
      #expect(lines(results)[0] == "find: the index on 'number', because it has the order")
      #expect(lines(results)[1] == "order: as in the index")
    }
    let (first, last) = (ascending.first?.id, ascending.last?.id)
    let (top, bottom) = (descending.first?.id, descending.last?.id)
    // From here on the rows are there, and the ends are theirs.
    #expect(Array(ascending.map(\.id)).first == first)
    #expect(ascending.map(\.id).last == last)
    #expect(Array(descending.map(\.id)).first == top)
    #expect(descending.map(\.id).last == bottom)
    let swift = archive.records.sorted { ($0.number, $0.id) < ($1.number, $1.id) }
    #expect(ascending.map(\.id) == swift.map(\.id))
    #expect(lines(archive.records.sorted(by: \.text))[1] == "order: sorted afterwards")
    #expect(lines(archive.records.sorted(by: \.id)) == [lines(archive.records)[0], kept])
  }

  @Test func `within a write the objects that it changed are found`() throws {
    try archive.instance.write {
      archive.record(20).number = 901
      archive.record(21).number = 902
      let found = archive.records.where { $0.number > 900 }
      #expect(found.map(\.id) == [20, 21])
      archive.record(20).number = 0
      #expect(found.map(\.id) == [21])
      #expect(archive.records.sorted(by: \.number).last?.id == 21)
    }
  }

  @Test func `what is dropped as equal is named`() {
    let distinct = archive.records.sorted(by: \.number).distinct(by: [\.flag, \.next?.text])
    #expect(
      lines(distinct)[1...] == [
        "order: as in the index",
        "distinct: the first of the objects with equal 'flag', 'next.text'", kept,
      ])
    let sorted = distinct.sorted(by: \.text)
    #expect(lines(sorted)[3] == "order: the remaining objects are sorted")
  }

  @Test func `what is read of an order's beginning is named`() {
    func read(_ results: Results<Record>) -> String { lines(results.limit(20)).last ?? "" }
    let records = archive.records
    for (isAscending, end) in [(true, "beginning"), (false, "end")] {
      let sorted = records.sorted(by: \.number, ascending: isAscending)
      let walk = "read: from the \(end) of the index on 'number' until 20 are found"
      #expect(read(sorted) == walk + ", and only those")
      #expect(
        read(sorted.where { $0.flag })
          .hasPrefix(walk + ", each tested; a scan if about "))
    }
    for (posts, end) in [(records, "first"), (records.sorted(by: \.id, ascending: false), "last")] {
      #expect(
        read(posts)
          == "read: a scan from the \(end) key until 20 are found; all of them if 16384 objects "
          + "are not enough")
    }
    let lasts = records.sorted(by: \.id, ascending: false)
    #expect(lines(lasts)[1] == "order: by the primary key, descending")
    let shown = "show: in this order, positions 0 to 19"
    #expect(read(records.sorted(by: \.text)) == shown)
    #expect(read(records.where { $0.id == 7 }) == shown)
    // Within a write only who keeps all rows looks at those that it changed from their end.
    archive.instance.realm.beginWrite()
    archive.record(3).number += 1
    #expect(read(lasts) == shown)
    archive.instance.realm.cancelWrite()
  }

  @Test func `elements of a collection are gone over`() throws {
    try archive.instance.write {
      archive.record(1).friends.append(objectsIn: [archive.record(2), archive.record(3)])
    }
    let friends = archive.record(1).friends.where { $0.id == 3 }
    #expect(
      friends.explain() == """
        find: each element of the collection, tested one by one
        keep: each commit changes the elements that it touches
        route: changes find it by the collection of an object, or by id == 3
        """)
  }

  @Test func `how changes find an observed result is named`() {
    let records = archive.records
    #expect(
      route(records.where { $0.number == 5 && $0.text != "a" })
        == "route: changes find it by number == 5")
    #expect(
      route(records.where { $0.number > 5 && $0.number < 9 && $0.flag })
        == "route: changes find it by number >= 6 AND number <= 8")
    #expect(
      route(records.where { $0.number.in([3, 4]) || $0.text.starts(with: "b") })
        == "route: changes find it by number IN {3, 4} OR text BEGINSWITH \"b\"")
    #expect(
      route(records.where { $0.number == 1 && $0.text == "x" })
        == "route: changes find it by one of these, the one that fewest others share: number == 1; "
        + "text == \"x\"")
    #expect(
      route(records.where { $0.text != "a" || $0.number == 1 })
        == "route: asked at every change of Record")
    #expect(
      route(records.where { $0.next.number == 1 && $0.flag })
        == "route: changes find it by next.number == 1")
  }
}
