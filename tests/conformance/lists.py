"""The inputs of a conformance run: test modules for the first half, functions for the second.

Modules are those of the package ``test`` of the interpreter; ``a|b`` is the first of two that this
version has. Modules about code objects, frames or tracing are omitted (``test_dis``,
``test_peepholer``, ``test_frame``, ``test_sys_settrace``, ...).
"""

import importlib.util

MODULES = {
    "language": """
        test_grammar test_scope test_global test_decorators test_class test_metaclass
        test_subclassinit test_property test_dynamicclassattribute test_descr test_descrtut
        test_super test_with test_patma test_named_expressions test_augassign test_fstring
        test_string_literals test_int_literal test_binop test_unary test_pow test_compare
        test_richcmp test_contains test_index test_type_annotations test_type_aliases
        test_type_params test_builtin test_syntax test_unparse test_module""",
    "calls": """
        test_call test_extcall test_keywordonlyarg test_positional_only_arg test_unpack
        test_unpack_ex test_pep646_syntax test_funcattrs test_isinstance test_typechecks""",
    "exceptions": """
        test_exceptions test_exception_group test_except_star test_exception_variations
        test_baseexception test_raise test_traceback""",
    "generators and coroutines": """
        test_generators test_genexps test_generator_stop test_yield_from test_coroutines
        test_asyncgen test_listcomps test_setcomps test_dictcomps test_iter test_iterlen
        test_enumerate test_contextlib test_contextlib_async test_context""",
    "asyncio": """
        test_asyncio.test_base_events test_asyncio.test_context test_asyncio.test_futures
        test_asyncio.test_locks test_asyncio.test_pep492 test_asyncio.test_protocols
        test_asyncio.test_queues test_asyncio.test_runners test_asyncio.test_streams
        test_asyncio.test_taskgroups test_asyncio.test_tasks test_asyncio.test_threads
        test_asyncio.test_timeouts test_asyncio.test_waitfor""",
    "numbers": """
        test_bool test_int test_long test_float test_complex test_math test_cmath test_hash
        test_numeric_tower test_abstract_numbers test_fractions test_decimal test_statistics
        test_random test_colorsys""",
    "data structures": """
        test_slice test_range test_tuple test_list test_dict test_dictviews test_set test_deque
        test_defaultdict test_ordered_dict test_userdict test_userlist test_collections
        test_heapq test_bisect test_sort test_array test_struct test_memoryview test_itertools
        test_weakref test_weakset test_copy test_copyreg test_pickle test_picklebuffer
        test_graphlib test_sched""",
    "text": """
        test_str|test_unicode test_bytes test_userstring test_string test_format test_re
        test_textwrap test_difflib test_pprint test_reprlib test_html test_htmlparser
        test_urlparse test_shlex test_csv test_configparser test_argparse test_getopt
        test_optparse test_json test_base64 test_fnmatch test_plistlib test_ipaddress
        test_http_cookies test_gettext""",
    "classes and functions": """
        test_enum test_dataclasses test_functools test_operator test_typing test_types
        test_genericalias test_abc test_uuid test_keyword""",
    "dates": "test_datetime test_calendar test_strptime test_time",
    "tools": """
        test_ast test_tokenize test_symtable test_code test_inspect test_doctest test_logging
        test_unittest.testmock.testmock|unittest.test.testmock.testmock test_linecache test_cmd""",
}

# By module: the functions that its tests call, natively and under a counting overlay.
REACHED = {
    "test_argparse": """
        argparse:ArgumentParser.__init__ argparse:ArgumentParser.parse_known_args
        argparse:_ActionsContainer.add_argument argparse:HelpFormatter._format_usage
        argparse:HelpFormatter._metavar_formatter argparse:Namespace.__init__""",
    "test_asyncio.test_locks": """
        asyncio.locks:Lock.__init__ asyncio.locks:Lock.acquire asyncio.locks:Lock.release
        asyncio.locks:Semaphore.acquire""",
    "test_calendar": """
        calendar:monthrange calendar:weekday calendar:TextCalendar.formatweek
        calendar:HTMLCalendar.formatmonth calendar:Calendar.__init__""",
    "test_collections": """
        collections:namedtuple collections:Counter.__init__ collections:Counter.update
        collections:Counter.__missing__ collections:ChainMap.__init__
        collections:ChainMap.new_child""",
    "test_configparser": """
        configparser:RawConfigParser.__init__ configparser:RawConfigParser.get
        configparser:RawConfigParser._read configparser:SectionProxy.__init__""",
    "test_contextlib": """
        contextlib:contextmanager contextlib:_GeneratorContextManagerBase.__init__
        contextlib:_GeneratorContextManager.__enter__ contextlib:_BaseExitStack.callback
        contextlib:_BaseExitStack.enter_context""",
    "test_copy": """
        copy:copy copy:deepcopy copy:_reconstruct copy:_deepcopy_list copy:_deepcopy_dict
        copy:_keep_alive""",
    "test_csv": "csv:DictReader.__init__ csv:DictWriter.writerow csv:Sniffer.sniff",
    "test_dataclasses": """
        dataclasses:dataclass dataclasses:_process_class dataclasses:field
        dataclasses:Field.__init__ dataclasses:asdict dataclasses:replace""",
    "test_decimal": """
        test.test_decimal:P.Decimal.__add__ test.test_decimal:P.Decimal.quantize
        test.test_decimal:P.Decimal._round_half_even test.test_decimal:P.Context.__init__
        test.test_decimal:P.Context.create_decimal test.test_decimal:P.Context.sqrt""",
    "test_difflib": """
        difflib:SequenceMatcher.__init__ difflib:SequenceMatcher.find_longest_match
        difflib:SequenceMatcher.get_matching_blocks difflib:HtmlDiff.make_table""",
    "test_doctest": """
        doctest:DocTestParser.parse doctest:DocTestFinder.find doctest:DocTestRunner.run
        doctest:OutputChecker.check_output""",
    "test_enum": """
        enum:EnumType.__call__ enum:EnumType._create_ enum:Flag._missing_
        enum:_EnumDict.__setitem__ enum:unique enum:property.__get__""",
    "test_fractions": """
        fractions:Fraction.__new__ fractions:Fraction.limit_denominator
        fractions:Fraction.from_float fractions:Fraction._richcmp fractions:Fraction.numerator""",
    "test_functools": """
        functools:update_wrapper functools:singledispatch functools:_find_impl
        functools:_c3_merge functools:total_ordering
        test.test_functools:py_functools._make_key
        test.test_functools:py_functools.cmp_to_key""",
    "test_graphlib": """
        graphlib:TopologicalSorter.__init__ graphlib:TopologicalSorter.add
        graphlib:TopologicalSorter.done graphlib:TopologicalSorter._get_nodeinfo""",
    "test_heapq": """
        test.test_heapq:py_heapq.heappush test.test_heapq:py_heapq.heappop
        test.test_heapq:py_heapq._siftup test.test_heapq:py_heapq._siftdown
        test.test_heapq:py_heapq.nlargest test.test_heapq:py_heapq.merge""",
    "test_htmlparser": """
        html.parser:HTMLParser.__init__ html.parser:HTMLParser.goahead
        html.parser:HTMLParser.parse_starttag html:unescape html:_replace_charref""",
    "test_json": """
        test.test_json:pyjson.dumps test.test_json:pyjson.loads
        test.test_json:pyjson.JSONEncoder.__init__ test.test_json:pyjson.JSONEncoder.encode
        test.test_json:pyjson.JSONDecoder.raw_decode test.test_json:pyjson.decoder.JSONObject""",
    "test_pprint": """
        pprint:pformat pprint:PrettyPrinter.__init__ pprint:PrettyPrinter._format
        pprint:PrettyPrinter._pprint_dict pprint:_safe_key.__init__ pprint:_safe_key.__lt__""",
    "test_random": """
        random:Random.__init__ random:Random.choice random:Random.sample random:Random.shuffle
        random:Random.gauss random:Random.uniform""",
    "test_re": """
        re:escape re._parser:Tokenizer.get re._parser:Tokenizer.getuntil
        re._parser:SubPattern.__init__ re._compiler:_compile re._compiler:_code
        re._compiler:_optimize_charset""",
    "test_shlex": "shlex:split shlex:shlex.__init__ shlex:shlex.read_token shlex:quote",
    "test_statistics": """
        statistics:_sum statistics:mean statistics:median statistics:_convert
        statistics:_exact_ratio
        test.test_statistics:py_statistics.NormalDist.__init__
        test.test_statistics:py_statistics.NormalDist.pdf
        test.test_statistics:py_statistics.NormalDist.__eq__
        test.test_statistics:py_statistics.NormalDist.mean""",
    "test_string": """
        string:capwords string:Template.substitute string:Template.__init__
        string:Formatter.vformat string:Formatter.get_field string:Formatter.parse""",
    "test_strptime": "_strptime:_strptime _strptime:LocaleTime.__init__ _strptime:TimeRE.pattern",
    "test_textwrap": """
        textwrap:TextWrapper.__init__ textwrap:TextWrapper.wrap textwrap:TextWrapper._wrap_chunks
        textwrap:dedent textwrap:indent""",
    "test_typing": """
        typing:_type_check typing:_GenericAlias.__init__ typing:ForwardRef.__init__
        typing:get_type_hints typing:_eval_type""",
    "test_unparse": "ast:unparse ast:_Unparser.traverse ast:NodeVisitor.visit ast:_Unparser.write",
    "test_urlparse": """
        urllib.parse:urlsplit urllib.parse:urljoin urllib.parse:quote urllib.parse:unquote
        urllib.parse:_coerce_args""",
}


def modules() -> dict[str, str]:
    """The module for each name in the lists; names that this version lacks are omitted."""
    listed = [name for names in MODULES.values() for name in names.split()]
    placed = {name.split("|")[0]: place(name) for name in listed}
    return {name: found for name, found in placed.items() if found is not None}


def place(listed: str) -> str | None:
    """The full name of the first of these modules that exists."""
    for name in listed.split("|"):
        full = name if name.startswith("unittest.") else f"test.{name}"
        try:
            if importlib.util.find_spec(full) is not None:
                return full
        except ModuleNotFoundError:
            continue
    return None
