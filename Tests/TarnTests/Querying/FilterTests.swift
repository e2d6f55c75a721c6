import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Conditions written as text find what the same ones find that the compiler checks.
struct FilterTests {
  private typealias Condition = (Query<Record>) -> Query<Bool>

  private func check(
    _ archive: Archive, _ text: String, _ arguments: [Any?], _ condition: Condition,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let base = archive.records._derivation
    let predicate = try FilterText(text, arguments).predicate(on: base.spec, base.core)
    let found = Results<Record>(base.core, base.spec.filtered(predicate))
    let expected = archive.records.where(condition)
    #expect(found.map(\.id) == expected.map(\.id), "\(text)", sourceLocation: location)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func numbersAndTruth(seed: UInt64) throws {
    let archive = try Archive(Shelter(), seed: seed)
    let table: [(String, [Any?], Condition)] = [
      ("number == 1", [], { $0.number == 1 }),
      ("number = %@", [1], { $0.number == 1 }),
      ("number <> %d", [1], { $0.number != 1 }),
      ("number != %i", [Int8(1)], { $0.number != 1 }),
      ("%lld < number", [UInt16(1)], { $0.number > 1 }),
      ("number =< %u AND number => -1", [2], { $0.number <= 2 && $0.number >= -1 }),
      ("number > %ld", [true as NSNumber], { $0.number > 1 }),
      ("size == nil", [], { $0.size == nil }),
      ("size != %@", [nil], { $0.size != nil }),
      ("size == %@", [NSNull()], { $0.size == nil }),
      ("size == %@", [Int?.some(3) as Any], { $0.size == 3 }),
      ("size BETWEEN {1, 3}", [], { $0.size.contains(1...3) }),
      ("size BETWEEN %@", [[1, 3]], { $0.size.contains(1...3) }),
      ("size IN {1, NULL, %@}", [3], { $0.size.in([1, nil, 3]) }),
      ("number IN %@", [Set([1, 2])], { $0.number.in([1, 2]) }),
      ("number IN %@", [1...2], { $0.number.in([1, 2]) }),
      ("NOT number IN %@", [[Int]()], { !$0.number.in([]) }),
      ("ratio == %f", [0.5], { $0.ratio == 0.5 }),
      ("ratio == %@", [Double.nan], { $0.ratio == .nan }),
      ("ratio < 1.5 || ratio > %f", [Float(2)], { $0.ratio < 1.5 || $0.ratio > 2 }),
      ("part >= %@", [0.75], { $0.part >= 0.75 }),
      ("part == %f", [CGFloat(0.25)], { $0.part == 0.25 }),
      ("price == 0.1", [], { $0.price == 0.1 }),
      ("price > %@", [0.2 as Decimal128], { $0.price > 0.2 }),
      ("price <= %@", [Decimal(string: "0.3")], { $0.price <= 0.3 }),
      ("flag == YES", [], { $0.flag }),
      ("flag == false", [], { !$0.flag }),
      ("flag != %@", [true], { $0.flag != true }),
      ("! (flag = no) && size < next.size", [], { !($0.flag == false) && $0.size < $0.next.size }),
      ("TRUEPREDICATE", [], { $0.number == $0.number }),
      ("FALSEPREDICATE OR number == 1", [], { $0.number == 1 }),
      ("#in == %@ AND %K == 1", [1, "in"], { $0.in == 1 }),
    ]
    for (text, arguments, condition) in table { try check(archive, text, arguments, condition) }
  }

  @Test(arguments: [4, 5, 6] as [UInt64])
  func textAndBytes(seed: UInt64) throws {
    let archive = try Archive(Shelter(), seed: seed)
    let table: [(String, [Any?], Condition)] = [
      ("text == 'it\\'s'", [], { $0.text == "it's" }),
      ("text == \"it's\"", [], { $0.text == "it's" }),
      ("text == '%@'", [], { $0.text == "%@" }),
      ("text == %@", ["it's"], { $0.text == "it's" }),
      ("text ==[c] 'é'", [], { $0.text.equals("é", options: .caseInsensitive) }),
      ("text ==[d] 'e'", [], { $0.text.equals("e", options: .diacriticInsensitive) }),
      (
        "text CONTAINS[cd] 'É'", [],
        { $0.text.contains("É", options: [.caseInsensitive, .diacriticInsensitive]) }
      ),
      ("text !=[c] %@", ["ABC"], { $0.text.notEquals("ABC", options: .caseInsensitive) }),
      ("note == NIL", [], { $0.note == nil }),
      ("note != %@", ["a"], { $0.note != "a" }),
      ("text < 'b'", [], { $0.text < "b" }),
      ("text CONTAINS 'b'", [], { $0.text.contains("b") }),
      ("text contains[c] %@", ["B"], { $0.text.contains("b", options: .caseInsensitive) }),
      ("text CONTAINS ''", [], { $0.text.contains("") }),
      ("note BEGINSWITH %@", ["a"], { $0.note.starts(with: "a") }),
      ("note BEGINSWITH %@", [nil], { $0.note.starts(with: nil) }),
      ("note endsWith[c] 'BC'", [], { $0.note.ends(with: "bc", options: .caseInsensitive) }),
      ("text LIKE 'a*b'", [], { $0.text.like("a*b") }),
      ("text LIKE 'a\\\\*b'", [], { $0.text == "a*b" }),
      ("text LIKE[c] %@", ["?B*"], { $0.text.like("?b*", caseInsensitive: true) }),
      ("note LIKE[c] 'É'", [], { $0.note.like("é", caseInsensitive: true) }),
      ("text LIKE note", [], { $0.text.like($0.note) }),
      ("text == note", [], { $0.text.equals($0.note) }),
      ("text !=[c] note", [], { $0.text.notEquals($0.note, options: .caseInsensitive) }),
      ("text IN {'a', \"A\", 'é'}", [], { $0.text.in(["a", "A", "é"]) }),
      (
        "text IN[c] %@", [["A", "É"]],
        {
          $0.text.equals("a", options: .caseInsensitive)
            || $0.text.equals("é", options: .caseInsensitive)
        }
      ),
      (
        "note IN %@", [["a", nil, "x OR 1 == 1"] as [String?]],
        {
          $0.note.in(["a", nil, "x OR 1 == 1"])
        }
      ),
      ("bytes == %@", [Data([1])], { $0.bytes == Data([1]) }),
      ("bytes == %@", [NSData(data: Data([1]))], { $0.bytes == Data([1]) }),
      ("bytes IN %@", [[NSData(data: Data([1]))]], { $0.bytes == Data([1]) }),
      ("bytes == X'0102'", [], { $0.bytes == Data([1, 2]) }),
      ("bytes CONTAINS %@", [Data([2])], { $0.bytes.contains(Data([2])) }),
      ("mood == %@", [ModelMood.wild], { $0.mood == .wild }),
      ("mood == 'calm'", [], { $0.mood == .calm }),
    ]
    for (text, arguments, condition) in table { try check(archive, text, arguments, condition) }
  }

  @Test(arguments: [7, 8, 9] as [UInt64])
  func datesIdsAndLinks(seed: UInt64) throws {
    let archive = try Archive(Shelter(), seed: seed)
    let (third, blue) = (archive.record(3), archive.folder(1))
    let (day, code, token) = (Archive.days[1], Archive.codes[1], Archive.tokens[1])
    let two = archive.records.where { $0.id < 2 }
    let table: [(String, [Any?], Condition)] = [
      ("day == %@", [day], { $0.day == day }),
      (
        "day == %@", [NSDate(timeIntervalSinceReferenceDate: day.timeIntervalSinceReferenceDate)],
        { $0.day == day }
      ),
      ("token == %@", [NSUUID(uuidString: token.uuidString)], { $0.token == token }),
      ("day > '1970-01-02'", [], { $0.day > day }),
      ("day BETWEEN %@", [[day, Archive.days[2]]], { $0.day.contains(day...Archive.days[2]) }),
      ("day IN {%@, %@}", [day, Archive.days[3]], { $0.day.in([day, Archive.days[3]]) }),
      ("code == %@", [code], { $0.code == code }),
      ("code != '222222222222222222222222'", [], { $0.code != code }),
      ("token == %@ OR token == nil", [token], { $0.token == token || $0.token == nil }),
      ("token IN %@", [Archive.tokens], { $0.token.in(Archive.tokens) }),
      ("token < %@", [token], { $0.token < token }),
      ("next == %@", [third], { $0.next == third }),
      ("next != %@", [third], { $0.next != third }),
      ("%@ == next", [third], { $0.next == third }),
      ("next == nil", [], { $0.next == nil }),
      ("next == next.next", [], { $0.next == $0.next.next }),
      ("next IN %@", [two], { $0.next.in([archive.record(0), archive.record(1)]) }),
      ("next IN {%@, nil}", [third], { $0.next.in([third, nil]) }),
      ("next.number > 1", [], { $0.next.number > 1 }),
      ("next.next.text == %@", ["a"], { $0.next.next.text == "a" }),
      ("next.size == nil", [], { $0.next.size == nil }),
      ("next.number == number", [], { $0.next.number == $0.number }),
      ("%K > %@", ["next.day", day], { $0.next.day > day }),
      ("folder == %@", [blue], { $0.folder == blue }),
      (
        "folder.color BEGINSWITH[c] 'RE'", [],
        {
          $0.folder.color.starts(with: "re", options: .caseInsensitive)
        }
      ),
      ("next.folder.colour == 'étoile'", [], { $0.next.folder.color == "étoile" }),
    ]
    for (text, arguments, condition) in table { try check(archive, text, arguments, condition) }
  }

  /// A property that is never nil against one of that type that may be.
  @Test(arguments: [13, 14] as [UInt64])
  func optionalsAndOthers(seed: UInt64) throws {
    let archive = try Archive(Shelter(), seed: seed)
    let table: [(String, [Any?], Condition)] = [
      ("number == size", [], { $0.number == $0.size }),
      ("size != number", [], { $0.size != $0.number }),
      ("number < size", [], { $0.number < $0.size }),
      ("size <= number", [], { $0.size <= $0.number }),
      ("number > next.size", [], { $0.number > $0.next.size }),
      ("size >= next.number", [], { $0.size >= $0.next.number }),
      ("text == note", [], { $0.text == $0.note }), ("note < text", [], { $0.note < $0.text }),
      ("text CONTAINS note", [], { $0.text.contains($0.note) }),
      ("note BEGINSWITH text", [], { $0.note.starts(with: $0.text) }),
    ]
    for (text, arguments, condition) in table { try check(archive, text, arguments, condition) }
    func count(_ condition: Condition) -> Int { archive.records.where(condition).count }
    let records = Array(archive.records)
    #expect(count { $0.number == $0.size } == records.count { $0.number == $0.size })
    #expect(count { $0.size != $0.number } == records.count { $0.number != $0.size })
  }

  /// Whatever an argument contains, it is compared as it is.
  @Test func argumentsAreNoText() throws {
    let archive = try Archive(Shelter(), seed: 10)
    let evil = ["' OR TRUEPREDICATE OR text == '", "%@", "\\", "\"", "nil", "x OR 1 == 1", "{", ""]
    for text in evil {
      let found = archive.records.filter("text == %@ AND number > %d", text, -9)
      #expect(found.map(\.id) == archive.records.filter { $0.text == text }.map(\.id))
      try archive.instance.write { archive.record(5).text = text }
      #expect(archive.records.filter("text == %@", text).map(\.id).contains(5))
    }
  }

  @Test func everyCollectionFilters() throws {
    let archive = try Archive(Shelter(), seed: 11)
    let record = archive.record(0)
    try archive.instance.write {
      record.friends.append(objectsIn: [3, 1, 2, 1].map(archive.record))
      for id in 0..<4 { archive.record(id).number = id }
    }
    #expect(record.friends.filter("number < %@", 3).map(\.id) == [1, 2, 1])
    #expect(try record.friends.filtered("number < %@", 3).sorted(by: \.id).map(\.id) == [1, 1, 2])
    #expect(record.friends.index(matching: "number == %@ OR number == 2", 1) == 1)
    #expect(record.friends.index(matching: "number == 77") == nil)
    let erased = AnyRealmCollection(record.friends.filter("number > 1"))
    #expect(erased.filter("number != 2").map(\.id) == [3])
    #expect(archive.records.sorted(by: \.id).index(matching: "id == %@", 7) == 7)
    let dynamic = archive.instance.realm.dynamicObjects("Folder").filter("colour == 'blue'")
    #expect(dynamic.map { $0["id"] as? Int } == [1])
  }

  @Test func resultsOfATextAreLive() throws {
    let archive = try Archive(Shelter(), seed: 12)
    let found = archive.records.filter("next.number == %@ AND text LIKE 'q*'", 77)
    let recorder = SequenceRecorder(found) { "\($0.id)" }
    archive.instance.pump()
    try archive.instance.write {
      archive.record(1).next = archive.record(2)
      archive.record(1).text = "question"
    }
    try archive.instance.write { archive.record(2).number = 77 }
    archive.instance.pump()
    try archive.instance.write { archive.record(1).text = "answer" }
    archive.instance.pump()
    #expect(recorder.calls == ["initial 0", "-[] +[0] ~[]", "-[0] +[] ~[]"])
  }
}
