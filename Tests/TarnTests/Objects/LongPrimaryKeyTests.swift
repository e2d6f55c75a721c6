import Foundation
import Testing

@testable import Tarn

private class LongPage: Object {
  @Persisted(primaryKey: true) var url: String
  @Persisted var title = ""
  @Persisted var next: LongPage?
  @Persisted var links: List<LongPage>
  @Persisted var tags: MutableSet<String>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Objects whose text primary keys agree in more bytes than an index keeps, in one write.
struct LongPrimaryKeyTests {
  private static let urls = (1...5).map {
    "https://example.com/" + String(repeating: "long/", count: 60) + "\($0)"
  }

  private func open() throws -> Instance {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [LongPage.self]
    return try Instance(configuration, shelter)
  }

  private func check(_ instance: Instance) {
    #expect(instance.realm.objects(LongPage.self).map(\.url).sorted() == Self.urls)
    for (number, url) in Self.urls.enumerated() {
      let page = instance.realm.object(ofType: LongPage.self, forPrimaryKey: url)
      #expect(page?.url == url)
      #expect(page?.title == "page \(number)")
    }
    let missing = Self.urls[0] + "x"
    #expect(instance.realm.object(ofType: LongPage.self, forPrimaryKey: missing) == nil)
  }

  private func write(_ body: (Realm, String, String) throws -> Void) throws -> Instance {
    let instance = try open()
    try instance.write {
      for (number, url) in Self.urls.enumerated() {
        try body(instance.realm, url, "page \(number)")
      }
      check(instance)
    }
    check(instance)
    return instance
  }

  @Test(arguments: [Realm.UpdatePolicy.error, .modified, .all])
  func `each of several created in one write stays`(_ policy: Realm.UpdatePolicy) throws {
    _ = try write { realm, url, title in
      realm.create(LongPage.self, value: ["url": url, "title": title], update: policy)
    }
  }

  @Test func `each of several added in one write stays`() throws {
    _ = try write { realm, url, title in
      realm.add(LongPage(value: ["url": url, "title": title]))
    }
  }

  @Test func `each of several created from checked values in one write stays`() throws {
    let instance = try write { realm, url, title in
      try realm.create(LongPage.self, checking: ["url": url, "title": title])
    }
    try instance.write {
      let error = #expect(throws: Realm.InvalidValue.self) {
        try instance.realm.create(LongPage.self, checking: ["url": Self.urls[2]])
      }
      #expect(error?.reason == .duplicatePrimaryKey)
    }
  }

  @Test func `an update in one write changes the object that is meant`() throws {
    let instance = try write { realm, url, title in
      realm.create(LongPage.self, value: ["url": url, "title": title])
    }
    try instance.write {
      for url in Self.urls.reversed() {
        let values = ["url": url, "title": "new " + url.suffix(1)]
        instance.realm.create(LongPage.self, value: values, update: .modified)
      }
      let gone = instance.realm.object(ofType: LongPage.self, forPrimaryKey: Self.urls[1])
      instance.realm.delete(try #require(gone))
      #expect(instance.realm.object(ofType: LongPage.self, forPrimaryKey: Self.urls[1]) == nil)
    }
    let pages = instance.realm.objects(LongPage.self).sorted(by: \.url)
    #expect(pages.map(\.title) == ["new 1", "new 3", "new 4", "new 5"])
  }

  @Test func `links among several created in one write lead to the objects that are meant`() throws
  {
    let instance = try open()
    try instance.write {
      let pages = Self.urls.map { ["url": $0] }
      let root: [String: Any] = ["url": "root", "links": pages, "next": ["url": Self.urls[3]]]
      instance.realm.create(LongPage.self, value: root, update: .modified)
    }
    let root = try #require(instance.realm.object(ofType: LongPage.self, forPrimaryKey: "root"))
    #expect(root.links.map(\.url) == Self.urls)
    #expect(root.next?.url == Self.urls[3])
  }

  @Test func `two spellings of the same letters are two keys, also of one creation`() throws {
    let instance = try open()
    for prefix in ["", String(repeating: "long ", count: 40)] {
      let (short, long) = (prefix + "\u{e9}", prefix + "e\u{301}")
      try instance.write {
        try instance.realm.create(
          LongPage.self, checking: ["url": short, "next": ["url": long], "tags": [short]])
      }
      let page = instance.realm.object(ofType: LongPage.self, forPrimaryKey: short)
      #expect(page?.next.map { Array($0.url.utf8) } == Array(long.utf8))
      let values: [String: Any] = ["url": short, "tags": [long]]
      try instance.write {
        instance.realm.create(LongPage.self, value: values, update: .modified)
      }
      #expect(page?.tags.map { Array($0.utf8) } == [Array(long.utf8)])
    }
    #expect(instance.realm.objects(LongPage.self).count == 4)
  }
}
